#!/usr/bin/env bash
# Installs the Debian 12 packages that tinyprof is built from, and with `--tests` those of its tests.
# Does nothing where all of them are there already. CONTRIBUTING.md gives the reason for each.
set -euo pipefail

build_packages=(
  g++ cmake ninja-build binutils pkg-config
  libeigen3-dev libexpected-dev libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libpapi-dev libsqlite3-dev libseccomp-dev libssl-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  golang-github-gogo-googleapis-dev libonnx-dev
)
test_packages=(
  libgtest-dev libgmock-dev ccache clang clang-format clang-tidy libclang-rt-14-dev git python3
)

packages=("${build_packages[@]}")
[[ "${1:-}" == --tests ]] && packages+=("${test_packages[@]}")
# buf comes from npm; Debian's own npm is large, so another Node.js that is already there will do.
if [[ "${1:-}" == --tests ]] && ! command -v npm >/dev/null; then
  packages+=(npm)
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ "$status" == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]} == 0)) && exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "These packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
    echo "Run as root: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
