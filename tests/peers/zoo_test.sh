#!/usr/bin/env bash
# Models of the zoo, exported as ONNX, give in every backend what ONNX Runtime gives.
#
# Usage: zoo_test.sh INSTALL.sh PREFIX BIN_DIR BACKEND,... MODEL...
# Each element is within 1e-4 of itself, or of the smallest of the outputs' largest elements
# (float32 sums of different order differ where they cancel).
set -euo pipefail
# shellcheck source=tests/peers/peer_test.sh
source "$(dirname "$0")/peer_test.sh"

failed=0
for model in "${models[@]}"; do
  "$bin/tinyprof-client" models export "$model" "$scratch/model.onnx" 2>/dev/null
  largest=$(node "$peers/make_case.mjs" "$prefix" "$scratch/model.onnx" "$scratch/case")
  atol=$(awk -v largest="$largest" 'BEGIN { print 1e-4 * largest }')
  for backend in "${backends[@]}"; do
    if "$bin/tinyprof-client" verify "$model" --data "$scratch/case" --backend "$backend" --rtol 1e-4 \
      --atol "$atol" >"$scratch/verify" 2>&1; then
      echo "$model $backend: the same, within 1e-4 (absolute $atol)"
    else
      echo "$model $backend: differs"
      cat "$scratch/verify"
      failed=1
    fi
  done
  rm -rf "$scratch/case" "$scratch/model.onnx"
done
exit "$failed"
