#!/usr/bin/env bash
# Builds and runs every test, from nothing, on a Debian 12 machine: the release build with all tests,
# the sanitizer builds, the fuzzers, clang-tidy, and the quickstart of the README.
#
# Usage: tests/run.sh [STEP...] with steps release asan tsan fuzz tidy quickstart; without: all of them.
# Logs stay in build/logs. Prints every skipped test with its reason at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

steps=("$@")
((${#steps[@]} > 0)) || steps=(tidy fuzz tsan asan quickstart release)
jobs=$(nproc)
logs=$PWD/build/logs
mkdir -p "$logs"
rm -f "$logs"/*.log
started=$SECONDS
# Clones of one state in different folders share what ccache has compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

say() { printf '\n== %s (%d s)\n' "$*" $((SECONDS - started)); }

build() {  # build PRESET [TARGET...]
  local preset=$1
  shift
  cmake --preset "$preset" >"$logs/$preset-configure.log" || { cat "$logs/$preset-configure.log"; return 1; }
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} >"$logs/$preset-build.log" ||
    { grep -E 'error|FAILED|warning' "$logs/$preset-build.log" | head -60; return 1; }
}

run_ctest() {  # run_ctest PRESET [ctest arguments]
  local preset=$1
  shift
  # One at a time: tests start daemons, which own the host, and measure.
  ctest --preset "$preset" --output-on-failure "$@" 2>&1 | tee "$logs/$preset-ctest.log"
  cp "build/$preset/Testing/Temporary/LastTest.log" "$logs/$preset-tests.log"
}

step_release() {
  say "release build and all tests"
  build release
  run_ctest release
}

step_asan() {
  say "AddressSanitizer and UndefinedBehaviorSanitizer"
  build asan-ubsan
  run_ctest asan-ubsan -LE tools
}

step_tsan() {
  say "ThreadSanitizer"
  # Only what has threads of its own: OpenMP's runtime is not instrumented, so kernels are left out.
  cmake --preset tsan >"$logs/tsan-configure.log"
  local targets
  mapfile -t targets < <(ctest --test-dir build/tsan -N -L threads | awk '/Test +#/ {print $NF}')
  build tsan "${targets[@]}"
  run_ctest tsan -L threads
}

step_fuzz() {
  say "fuzzers, ${TINYPROF_FUZZ_SECONDS:=20} s each"
  build fuzz
  local fuzzer
  for fuzzer in build/fuzz/bin/*_fuzzer; do
    local name corpus
    name=$(basename "$fuzzer")
    corpus=tests/fuzz/corpus/${name%_fuzzer}
    mkdir -p "build/fuzz/corpus/$name"
    "$fuzzer" -max_total_time="$TINYPROF_FUZZ_SECONDS" -rss_limit_mb=2048 -timeout=10 \
      -artifact_prefix="$logs/$name-" "build/fuzz/corpus/$name" "$corpus" >"$logs/$name.log" 2>&1 ||
      { tail -40 "$logs/$name.log"; return 1; }
    grep -E '^(Done|#.*DONE)' "$logs/$name.log" | tail -1
  done
}

step_tidy() {
  say "clang-tidy"
  build release
  tests/tools/run_clang_tidy.sh build/release "$jobs" | tee "$logs/tidy.log"
}

step_quickstart() {
  say "the README's quickstart"
  deploy/quickstart.sh >"$logs/quickstart.log"
  grep -cE 'resnet18|tinygpt' "$logs/quickstart.log" >/dev/null
}

report_skips() {
  say "skipped tests and why"
  grep -hE -B1 '\[  SKIPPED \]|Skipped$|^.*: Skipped' "$logs"/*-tests.log 2>/dev/null |
    grep -vE '^(--|\[ RUN)' | sort -u || true
}

deploy/dependencies.sh --tests
for step in "${steps[@]}"; do
  declare -F "step_$step" >/dev/null || { echo "unknown step: $step" >&2; exit 2; }
done
# The release tests run last, so that their summary closes the output.
for step in "${steps[@]}"; do
  [[ $step == release ]] && report_skips
  "step_$step"
done
