#!/usr/bin/env bash
# How fast the backends are beside ONNX Runtime, network by network, and matrix products beside the FMA peak:
# one thread, passes in turns, ratios as median and quartiles.
#
# Usage: speed_table.sh BUILD_DIR PREFIX [ROUNDS [FILE.onnx[,NAME=SHAPE]...]...]
# PREFIX is where ONNX Runtime is or will be installed; files are networks beside those of the zoo.
set -euo pipefail
build=$(realpath "$1") prefix=$(realpath -m "$2") rounds=${3:-30}
shift "$(($# < 3 ? $# : 3))"
peers=$(dirname "$(realpath "$0")")
"$peers/install.sh" "$prefix"

# shellcheck source=tests/peers/own_daemon.sh
source "$peers/own_daemon.sh"
start_own_daemon "$build/bin"
lscpu | grep 'Model name'
echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"

versus() {  # versus FILE.onnx THREADS [NAME=SHAPE...]
  local file=$1 threads=$2
  shift 2
  node "$peers/versus.mjs" "$prefix" "$build/tests/bench/pass_on_request" "$file" "$threads" "$rounds" "$@"
}

for model in resnet18 tinygpt tinygpt:phase=decode bert-base; do
  file=$scratch/${model//[:=]/_}.onnx
  "$build/bin/tinyprof-client" models export "$model" "$file" 2>/dev/null
  versus "$file" 1
done
if (($(nproc) > 1)); then
  "$build/tests/bench/ping_pong"
  versus "$scratch/resnet18.onnx" 2
  "$build/tests/bench/ping_pong"
fi
for given in "$@"; do
  IFS=, read -ra parts <<<"$given"
  versus "${parts[0]}" 1 "${parts[@]:1}"
done
"$build/tests/bench/gemm_of_peak"
