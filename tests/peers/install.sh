#!/usr/bin/env bash
# Installs ONNX Runtime from npm into the folder given. Exit 77 (a skip for ctest) where that cannot be had.
set -euo pipefail
prefix=$1
version=1.30.0
if [[ -f $prefix/node_modules/onnxruntime-node/package.json ]]; then exit 0; fi
command -v npm >/dev/null || { echo "[  SKIPPED ] onnxruntime: npm is not installed"; exit 77; }
mkdir -p "$prefix"
# The package's own script fetches libraries for GPUs.
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$prefix" "onnxruntime-node@$version" \
  >"$prefix/npm.log" 2>&1 ||
  { echo "[  SKIPPED ] onnxruntime: npm cannot install onnxruntime-node@$version"; tail -3 "$prefix/npm.log"; exit 77; }
