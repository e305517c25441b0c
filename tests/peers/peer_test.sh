# shellcheck shell=bash
# Sourced by the tests beside ONNX Runtime, whose arguments are INSTALL.sh PREFIX BIN_DIR BACKEND,... MODEL...:
# skips where it cannot be had, and starts a daemon. Gives prefix, bin, backends, models, peers and scratch.
install=$1 prefix=$2 bin=$3
IFS=, read -ra backends <<<"$4"
models=("${@:5}")
command -v node >/dev/null || { echo "[  SKIPPED ] onnxruntime: node is not installed"; exit 77; }
"$install" "$prefix"
peers=$(dirname "$install")
# shellcheck source=tests/peers/own_daemon.sh
source "$peers/own_daemon.sh"
start_own_daemon "$bin"
