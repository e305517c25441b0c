#!/usr/bin/env bash
# From a fresh Debian 12 machine to a profile: installs what is missing, builds, starts tinyprofd on a
# private unix socket, and profiles resnet18 and tinygpt. Leaves nothing running.
set -euo pipefail
cd "$(dirname "$0")/.."

deploy/dependencies.sh
echo "Building into build/quickstart (the first time takes ten minutes on two idle cores)..." >&2
cmake -S . -B build/quickstart -G Ninja -DCMAKE_BUILD_TYPE=Release -DTINYPROF_TESTS=OFF >/dev/null
cmake --build build/quickstart --target tinyprofd tinyprof-worker tinyprof-client

bin=$PWD/build/quickstart/bin
private=$(mktemp -d "${TMPDIR:-/tmp}/tinyprof-quickstart.XXXXXX")
daemon_pid=
stop() {
  [[ -z "$daemon_pid" ]] || kill "$daemon_pid" 2>/dev/null || true
  [[ -z "$daemon_pid" ]] || wait "$daemon_pid" 2>/dev/null || true
  rm -rf "$private"
}
trap stop EXIT

export TINYPROF_ADDRESS="unix:$private/tinyprofd.sock"
"$bin/tinyprofd" --listen "$TINYPROF_ADDRESS" --state-dir "$private/state" 2>"$private/log" &
daemon_pid=$!
for _ in {1..30}; do
  "$bin/tinyprof-client" health --wait 1s >/dev/null 2>&1 && break
  kill -0 "$daemon_pid" 2>/dev/null || { cat "$private/log" >&2; exit 1; }
done
"$bin/tinyprof-client" health >/dev/null

"$bin/tinyprof-client" profile resnet18
echo
"$bin/tinyprof-client" profile tinygpt
echo
echo "Next: start $bin/tinyprofd and try '$bin/tinyprof-client profile resnet50', or 'doctor'." >&2
