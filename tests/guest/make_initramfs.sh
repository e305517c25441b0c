#!/usr/bin/env bash
# Packs the guest's file system: init, busybox, the test program and the libraries that it needs.
#
# Usage: make_initramfs.sh SYSROOT PROGRAM OUTPUT
set -euo pipefail
sysroot=$1
program=$2
output=$3
here=$(cd "$(dirname "$0")" && pwd)
libraries=$sysroot/usr/lib/aarch64-linux-gnu
loader=$sysroot/lib/ld-linux-aarch64.so.1

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage"/{bin,lib/aarch64-linux-gnu}
cp "$here/init" "$stage/init"
cp "$sysroot/bin/busybox" "$stage/bin/busybox"
cp "$program" "$stage/bin/guest_counters"
cp -L "$loader" "$stage/lib/"
chmod -R u=rwX,go=rX "$stage"
chmod 755 "$stage/init" "$stage"/bin/*

add_needed() {  # copies what a program or library names as needed, and what that needs
  local needed
  for needed in $(aarch64-linux-gnu-readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [[ $needed == ld-linux-* || -e $stage/lib/aarch64-linux-gnu/$needed ]] && continue
    local found
    found=$(find "$libraries" "$sysroot/lib/aarch64-linux-gnu" -maxdepth 1 -name "$needed" 2>/dev/null | head -1)
    [[ -n $found ]] || { echo "no $needed for $1 among the arm64 packages" >&2; return 1; }
    cp -L "$found" "$stage/lib/aarch64-linux-gnu/"
    add_needed "$found"
  done
}
add_needed "$stage/bin/guest_counters"

# Not compressed: the emulated CPU would take longer to unpack it than this one to read it.
(cd "$stage" && find . -print0 | LC_ALL=C sort -z | cpio --null -o -H newc --quiet) >"$output.new"
mv "$output.new" "$output"
