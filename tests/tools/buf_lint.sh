#!/usr/bin/env bash
# Lints the protos and checks their format with buf, from npm into the build folder given.
# Exit 77 (a skip for ctest) where neither npm nor its registry can be had.
set -euo pipefail
protos=$1
prefix=$2
version=1.75.0
if [[ ! -x "$prefix/node_modules/.bin/buf" ]]; then
  command -v npm >/dev/null || { echo "[  SKIPPED ] buf lint: npm is not installed"; exit 77; }
  mkdir -p "$prefix"
  npm install --silent --no-audit --no-fund --prefix "$prefix" "@bufbuild/buf@$version" >"$prefix/npm.log" 2>&1 ||
    { echo "[  SKIPPED ] buf lint: npm cannot install @bufbuild/buf@$version"; tail -3 "$prefix/npm.log"; exit 77; }
fi
buf=$prefix/node_modules/.bin/buf
cd "$protos"
"$buf" lint
"$buf" format --diff --exit-code
