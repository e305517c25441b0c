#!/usr/bin/env bash
# Quantized models of the zoo give in every backend what ONNX Runtime gives.
#
# Usage: quantized_test.sh INSTALL.sh PREFIX BIN_DIR BACKEND,... MODEL...
# Where float32 sums of different order lie on two sides of a rounding, the engines differ by a step of
# an activation. The most that this may come to is what quantization itself costs: the largest error
# against float32 that `quantize` reports.
set -euo pipefail
# shellcheck source=tests/peers/peer_test.sh
source "$(dirname "$0")/peer_test.sh"

failed=0
for model in "${models[@]}"; do
  for mode in static dynamic; do
    file=$scratch/model.onnx
    "$bin/tinyprof-client" quantize "$model" "$file" --mode "$mode" --json -o "$scratch/report.json"
    atol=$(node -p 'Math.max(...JSON.parse(fs.readFileSync(process.argv[1])).outputs.map((o) => o.max_abs_error))' \
      "$scratch/report.json")
    node "$peers/make_case.mjs" "$prefix" "$file" "$scratch/case" >/dev/null
    for backend in "${backends[@]}"; do
      if "$bin/tinyprof-client" verify "$file" --data "$scratch/case" --backend "$backend" --rtol 1e-4 \
        --atol "$atol" --json >"$scratch/verify" 2>"$scratch/error"; then
        worst=$(node -p 'Math.max(...JSON.parse(fs.readFileSync(process.argv[1])).outputs.map((o) => o.max_abs_error))' \
          "$scratch/verify")
        echo "$model $mode $backend: the same, within $worst (allowed $atol)"
      else
        echo "$model $mode $backend: differs"
        cat "$scratch/verify" "$scratch/error"
        failed=1
      fi
    done
    rm -rf "$scratch/case" "$file"
  done
done
exit "$failed"
