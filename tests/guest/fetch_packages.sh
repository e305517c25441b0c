#!/usr/bin/env bash
# Fetches what the guest is made of: Debian's arm64 kernel and arm64 libraries, unpacked and cached.
#
# Usage: fetch_packages.sh CACHE_DIR
# Makes CACHE_DIR/kernel and CACHE_DIR/sysroot. Does nothing where they are there already. The packages come from
# where this machine's own apt gets its packages, through an apt of its own: the machine learns of no foreign
# architecture. Exit 77, with the reason as the last line, where they cannot be had.
set -euo pipefail
mkdir -p "$1"
cache=$(cd "$1" && pwd)

kernel_package=linux-image-cloud-arm64  # depends on the newest kernel
# Linked against by the test program, with what those need at run time. The last two are headers only.
packages=(busybox-static libc6 libgcc-s1 libgomp1 libstdc++6 libpapi-dev libpapi7.0 libpfm4 libfmt-dev libfmt9
          libgtest-dev libgmock-dev googletest libeigen3-dev libexpected-dev)

# Two builds may share the folder.
exec {lock}>"$cache/lock"
flock "$lock"
wanted=$(printf '%s\n' "$kernel_package" "${packages[@]}" | sha256sum)
[[ -f $cache/fetched && $(<"$cache/fetched") == "$wanted" ]] && exit 0

apt_root=$cache/apt
log=$cache/apt.log
rm -rf "$apt_root" "$cache/kernel" "$cache/sysroot" "$cache/fetched"
mkdir -p "$apt_root"/{lists,archives}/partial "$cache/kernel" "$cache/sysroot"
: >"$apt_root/status"
# Read after the machine's configuration, whose hooks are for the machine's packages. The user is named because
# apt's own can seldom write to a build folder.
cat >"$apt_root/apt.conf" <<END
#clear APT::Architectures;
#clear APT::Update;
#clear DPkg;
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Acquire::Retries "2";
Dir::State "$apt_root";
Dir::State::Lists "$apt_root/lists";
Dir::State::Status "$apt_root/status";
Dir::Cache "$apt_root";
END

unavailable() {
  echo "$*; see $log"
  exit 77
}

for tool in apt-get apt-cache dpkg-deb; do
  command -v "$tool" >/dev/null || { : >"$log"; unavailable "this machine has no $tool"; }
done
# A source without arm64 may fail; what counts is whether the packages are there.
apt-get -c "$apt_root/apt.conf" update >"$log" 2>&1 || true
kernel=$(apt-cache -c "$apt_root/apt.conf" depends "$kernel_package" 2>>"$log" |
  awk '$1 == "Depends:" && $2 ~ /^linux-image-/ {print $2; exit}') || true
[[ -n $kernel ]] || unavailable "apt's sources have no $kernel_package"
(cd "$apt_root/archives" &&
  apt-get -c "$apt_root/apt.conf" download "$kernel" "${packages[@]}" >>"$log" 2>&1) ||
  unavailable "the arm64 packages cannot be downloaded"

for package in "$apt_root/archives"/*.deb; do
  case ${package##*/} in
    # The modules, which the guest does not need, are most of it.
    linux-image-*) dpkg-deb --fsys-tarfile "$package" |
      tar -x -C "$cache/kernel" --strip-components=2 --wildcards './boot/vmlinuz-*' ;;
    *) dpkg-deb -x "$package" "$cache/sysroot" ;;
  esac
done
rm -rf "$apt_root"
echo "$wanted" >"$cache/fetched"
