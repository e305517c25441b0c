#!/usr/bin/env bash
# Boots an emulated Arm machine with Debian's kernel and runs the counter tests on its PMU.
#
# Usage: run_guest_test.sh WORK_DIR
# Kernel, libraries and the built tests stay in WORK_DIR, so that a second run only boots; the packages go to
# $TINYPROF_GUEST_CACHE instead, if that is set. Exit 77 (a skip for ctest) where tools or packages cannot be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
cache=${TINYPROF_GUEST_CACHE:-$work}

skip() {
  echo "[  SKIPPED ] guest counters: $*"
  exit 77
}

need_tools() {
  local tool
  for tool in qemu-system-aarch64 aarch64-linux-gnu-g++ cpio cmake ninja; do
    command -v "$tool" >/dev/null || skip "$tool is not installed (deploy/dependencies.sh --tests)"
  done
}

fetch() {
  local said status=0
  said=$("$here/fetch_packages.sh" "$cache") || status=$?
  ((status != 77)) || skip "$said"
  ((status == 0)) || { echo "the arm64 packages cannot be unpacked: $said"; exit 1; }
  sysroot=$(cd "$cache/sysroot" && pwd)
}

build() {
  local options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DTINYPROF_GUEST_SYSROOT="$sysroot"
                 -DCMAKE_TOOLCHAIN_FILE="$here/arm64/toolchain.cmake")
  ! command -v ccache >/dev/null || options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # What was found in another folder of packages is not looked for again.
  grep -qsxF "TINYPROF_GUEST_SYSROOT:UNINITIALIZED=$sysroot" "$work/arm64/CMakeCache.txt" || options+=(--fresh)
  { cmake -S "$here/arm64" -B "$work/arm64" "${options[@]}" && cmake --build "$work/arm64" --target guest_counters
  } >"$work/build.log" 2>&1 || { tail -60 "$work/build.log"; exit 1; }
  "$here/make_initramfs.sh" "$sysroot" "$work/arm64/guest_counters" "$work/initramfs"
}

boot() {  # boot SCENARIO CPU LOG [qemu options]: the console of the guest, until it switches itself off
  local scenario=$1 cpu=$2 log=$3
  shift 3
  timeout 180 qemu-system-aarch64 -M virt,dtb-randomness=off -cpu "$cpu" "$@" -smp 1 -m 512 -nic none -no-reboot \
    -display none -monitor none -serial stdio -kernel "$(echo "$cache"/kernel/vmlinuz-*)" \
    -initrd "$work/initramfs" -append "console=ttyAMA0 quiet panic=-1 tinyprof_scenario=$scenario" \
    </dev/null 2>&1 | tr -d '\r' >"$log" || { echo "$scenario: qemu failed, or the guest hung"; return 1; }
}

passed=0
judge() {  # judge LOG SUITE...: each suite ran to its end, and every test of it passed
  local log=$1 suite
  shift
  grep -q 'enabled with armv8_pmuv3 PMU driver, 7 counters available' "$log" || { echo "no PMU: $log"; return 1; }
  for suite in "$@"; do
    local tests
    tests=$(awk -v suite="$suite" '$1 == "==" && $2 == suite && $3 == "exit" && $4 == 0 {print last}
                                   /^\[  PASSED  \]/ {last = $4}' "$log")
    ((${tests:-0} > 0)) || { echo "suite $suite failed: $log"; return 1; }
    echo "$suite: $tests tests passed"
    passed=$((passed + tests))
  done
}

scenario() {  # scenario NAME CPU SUITE... [-- qemu options]
  local name=$1 cpu=$2 suites=()
  shift 2
  while (($# > 0)) && [[ $1 != -- ]]; do suites+=("$1"); shift; done
  if ! { boot "$name" "$cpu" "$work/$name.log" "${@:2}" && judge "$work/$name.log" "${suites[@]}"; }; then
    cat "$work/$name.log"
    exit 1
  fi
}

# One emulated instruction is one nanosecond of the guest: counts repeat, and QEMU counts instructions at all.
icount=(-icount "shift=0,sleep=off")

need_tools
fetch
build
scenario known_cpu neoverse-n1 KnownCpu Threads Exhaustion TakenAway ParanoidUser ParanoidRoot \
  WithoutPapi -- "${icount[@]}"
# A CPU of no maker; the cheaper pointer authentication only makes it fast.
scenario unknown_cpu max,pauth-impdef=on UnknownCpu -- "${icount[@]}"
scenario presets cortex-a57 PresetsReadZero -- "${icount[@]}"
scenario no_instruction_counter neoverse-n1 NoInstructionCounter --

written=$(cat "$here"/*_test.cc | grep -cE '^TEST(_F)?\(')
((passed == written)) || { echo "$written tests are written, $passed ran"; exit 1; }

boot known_cpu neoverse-n1 "$work/known_cpu_again.log" "${icount[@]}"
first=$(grep '^COUNT' "$work/known_cpu.log")
second=$(grep '^COUNT' "$work/known_cpu_again.log")
[[ $first == "$second" ]] || { printf 'two boots count differently:\n%s\n%s\n' "$first" "$second"; exit 1; }
echo "two boots count the same:"
echo "$first"
