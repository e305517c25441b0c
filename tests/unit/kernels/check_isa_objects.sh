#!/bin/sh
# Usage: check_isa_objects.sh OBJECT_DIR ISA...
# Checks that the merged kernel object of each instruction set exports its table of kernels and nothing
# else, and that the baseline object holds no instruction on ymm or zmm registers.
set -eu
object_dir=$1
shift
failed=0
for isa in "$@"; do
  object="$object_dir/tinyprof_eigen_$isa.o"
  if [ ! -f "$object" ]; then
    echo "skipped: $object is not built"
    exit 77
  fi
  # --defined-only leaves global (upper-case), weak (V, W, v, w) and unique (u) symbols.
  exported=$(nm --defined-only "$object" | awk '$2 ~ /^[A-Zuvw]$/ {print $3}')
  if [ "$exported" != "tinyprof_eigen_kernels_$isa" ]; then
    echo "$object exports, beside its table of kernels:"
    echo "$exported" | head -20
    failed=1
  fi
done
wide=$(objdump -d --no-show-raw-insn "$object_dir/tinyprof_eigen_baseline.o" | grep -E -m 5 '%[yz]mm' || true)
if [ -n "$wide" ]; then
  echo "the baseline object has instructions on wide registers:"
  echo "$wide"
  failed=1
fi
# The check itself must be able to see one.
for isa in "$@"; do
  case $isa in
    avx2) register='%ymm' ;;
    avx512) register='%zmm' ;;
    *) continue ;;
  esac
  if ! objdump -d --no-show-raw-insn "$object_dir/tinyprof_eigen_$isa.o" | grep -q "$register"; then
    echo "the $isa object has no instruction on $register: its flags did not arrive"
    failed=1
  fi
done
exit $failed
