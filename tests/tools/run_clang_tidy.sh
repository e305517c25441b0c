#!/usr/bin/env bash
# clang-tidy over every source of ours in a configured build folder. Exits 1 on a finding.
#
# Usage: run_clang_tidy.sh BUILD_DIR JOBS. Sources whose text, headers and .clang-tidy did not change
# since they last passed are not looked at again (stamps in BUILD_DIR/tidy).
set -euo pipefail
build=$1
jobs=$2
cd "$(dirname "$0")/../.."

# The newest there is: from 21 on it does not walk through the headers of packages, which takes most of
# the time.
tidy=$(compgen -c clang-tidy- | grep -E '^clang-tidy-[0-9]+$' | sort -t- -k3 -n | tail -1 || true)
tidy=${tidy:-clang-tidy}
"$tidy" --version | grep -i version

mkdir -p "$build/tidy"
# What only GCC knows is an error to clang; and OpenMP's header comes from whoever has it.
omp=$(dirname "$(g++ -print-file-name=include/omp.h)")
sed "s: -fno-gnu-unique : :; s: -c : -idirafter $omp -c :" "$build/compile_commands.json" >"$build/tidy/compile_commands.json"
# Any header may change the meaning of any source.
headers=$(git ls-files -co --exclude-standard '*.h' .clang-tidy | sort | xargs cat | sha256sum)
export build headers tidy

check() {
  local source=$1 key stamp
  key=$(printf '%s%s%s' "$headers" "$tidy" "$(sha256sum "$source")" | sha256sum | cut -c1-32)
  stamp=$build/tidy/$key
  [[ -e $stamp ]] && return 0
  "$tidy" --quiet -p "$build/tidy" "$source" 2>"$stamp.log" && mv "$stamp.log" "$stamp"
}
export -f check

git ls-files 'kernels/*.cc' 'daemon/*.cc' 'client/*.cc' |
  while read -r source; do
    # Sources that are compiled once for each ISA stand in the compile database under that folder too.
    grep -q "\"file\": .*/$source\"" "$build/compile_commands.json" && printf '%s\n' "$source"
  done |
  xargs -P "$jobs" -I{} bash -c 'check "$1" || { echo "clang-tidy: $1"; exit 1; }' _ {}
echo "clang-tidy: no findings"
