#!/usr/bin/env bash
# Installs the Debian 12 packages that tinyprof is built from, and with `--tests` those of its tests.
# Does nothing where all of them are there already. CONTRIBUTING.md gives the reason for each.
set -euo pipefail

build_packages=(
  g++ cmake ninja-build binutils pkg-config
  libeigen3-dev libexpected-dev libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libpapi-dev libsqlite3-dev libseccomp-dev libssl-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  golang-github-gogo-googleapis-dev libonnx-dev libdnnl-dev
)
test_packages=(
  libgtest-dev libgmock-dev libpfm4-dev ccache clang clang-format libclang-rt-14-dev libomp-dev
  git python3 qemu-system-arm g++-aarch64-linux-gnu cpio jq libonnx-testdata
)

packages=("${build_packages[@]}")
[[ "${1:-}" == --tests ]] && packages+=("${test_packages[@]}")
# buf and ONNX Runtime come from npm; Debian's own npm is large, so another Node.js that is already there will do.
if [[ "${1:-}" == --tests ]] && ! command -v npm >/dev/null; then
  packages+=(npm)
fi

as_root=()
((EUID == 0)) || as_root=(sudo)
need_root() {
  ((EUID == 0)) || command -v sudo >/dev/null || {
    echo "Packages are missing and neither root nor sudo is at hand. Run as root:" >&2
    echo "  apt-get update && apt-get install ${packages[*]}" >&2
    exit 1
  }
}

# A machine just installed has no lists of packages yet.
if ! apt-cache show cmake >/dev/null 2>&1; then
  need_root
  "${as_root[@]}" apt-get update -qq
fi
if [[ "${1:-}" == --tests ]]; then
  # From 21 on clang-tidy leaves the headers of packages alone, which makes it five times as fast; Debian 12
  # has one among its security updates.
  newest=$(apt-cache search --names-only '^clang-tidy-[0-9]+$' | awk '{print $1}' | sort -t- -k3 -n | tail -1)
  packages+=("${newest:-clang-tidy}")
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ "$status" == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]} == 0)) && exit 0

need_root
echo "Installing ${#missing[@]} packages: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
