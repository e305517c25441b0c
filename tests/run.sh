#!/usr/bin/env bash
# Builds and runs the tests, from nothing, on a Debian 12 machine.
#
# Usage: tests/run.sh [STEP...] with steps quickstart (the README's), tsan, asan, fuzz, tidy, release (all of
# ctest); without: all of them.
# Logs stay in build/logs. Prints every skipped test with its reason at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

steps=("$@")
((${#steps[@]} > 0)) || steps=(quickstart tsan asan fuzz tidy release)
jobs=$(nproc)
logs=$PWD/build/logs
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
  local preset=$1 status=0
  shift
  # One at a time: tests start daemons, which own the host, and measure.
  ctest --preset "$preset" --output-on-failure "$@" 2>&1 | tee "$logs/$preset-ctest.log" || status=$?
  cp "build/$preset/Testing/Temporary/LastTest.log" "$logs/$preset-tests.log"
  return "$status"
}

# Its summary closes the whole output, after the list of skips.
step_release() {
  say "release build and all tests"
  build release
  local status=0
  run_ctest release >/dev/null || status=$?
  report_skips
  report_conformance
  cat "$logs/release-ctest.log"
  return "$status"
}

step_asan() {
  say "AddressSanitizer and UndefinedBehaviorSanitizer"
  build asan-ubsan
  run_ctest asan-ubsan -LE tools
}

step_tsan() {
  say "ThreadSanitizer"
  # What has threads: our own, and the team's while counters are read on it.
  build tsan threads_tests
  run_ctest tsan -L threads
}

step_fuzz() {
  say "fuzzers, ${TINYPROF_FUZZ_SECONDS:=20} s each"
  # In the folder of the sanitized tests, whose libraries are the same.
  build asan-ubsan fuzzers
  # The models of ONNX's own suites are the seeds of those that read models.
  local suites=build/fuzz-corpus/suites fuzzer
  mkdir -p "$suites"
  find /usr/share/libonnx-testdata -name model.onnx -size -16k | while read -r model; do
    cp "$model" "$suites/$(basename "$(dirname "$model")").onnx"
  done
  for fuzzer in build/asan-ubsan/fuzzers/*_fuzzer; do
    local name corpus seeds
    name=$(basename "$fuzzer" _fuzzer)
    corpus=build/fuzz-corpus/$name
    mkdir -p "$corpus"
    seeds=("tests/fuzz/corpus/$name")
    [[ "$name" == onnx* ]] && seeds=(tests/fuzz/corpus/onnx tests/fuzz/corpus/onnx_run "$suites")
    # What is longer is replayed by the tests, and takes the sanitized importer half a minute.
    "$fuzzer" -max_total_time="$TINYPROF_FUZZ_SECONDS" -rss_limit_mb=2048 -timeout=60 -max_len=4096 -print_final_stats=1 \
      -artifact_prefix="$logs/$name-" "$corpus" "${seeds[@]}" >"$logs/fuzz-$name.log" 2>&1 ||
      { tail -40 "$logs/fuzz-$name.log"; return 1; }
    printf '%s: %s inputs\n' "$name" "$(awk '/number_of_executed_units/ {print $2}' "$logs/fuzz-$name.log")"
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
  grep -q '^resnet18 (zoo)' "$logs/quickstart.log"
  grep -q '^tinygpt (zoo)' "$logs/quickstart.log"
}

# The closing table of the conformance suites.
report_conformance() {
  say "conformance with ONNX's test suites"
  sed -n '/^suite  *passed  *failed  *refused/,/^all /p' "$logs/release-tests.log"
}

report_skips() {
  say "skipped tests and why"
  grep -hE -A1 ': Skipped$|^\[  SKIPPED \] (buf|guest|conformance|onnxruntime) ' "$logs"/*-tests.log | grep -vE '^--$' || echo "none"
}

for step in "${steps[@]}"; do
  declare -F "step_$step" >/dev/null || { echo "unknown step: $step" >&2; exit 2; }
done
mkdir -p "$logs"
rm -f "$logs"/*.log
deploy/dependencies.sh --tests
for step in "${steps[@]}"; do "step_$step"; done
