#!/usr/bin/env bash
# Installs a build into a folder and runs what is there: daemon, worker, client, unit file.
#
# Usage: installation.sh BUILD_DIR
set -euo pipefail
build=$(realpath "$1")
. "$(dirname "$(realpath "$0")")/private_daemon.sh"

cmake --install "$build" --prefix "$private/usr" >"$private/installed"
bin=$private/usr/bin
for name in tinyprofd tinyprof-worker tinyprof-client; do
  [[ -x "$bin/$name" ]] || { echo "$name is not installed:"; cat "$private/installed"; exit 1; }
done
for file in share/doc/tinyprof/README.md share/doc/tinyprof/LICENSE share/doc/tinyprof/tinyprofd.toml \
  lib/systemd/system/tinyprofd.service; do
  [[ -s "$private/usr/$file" ]] || { echo "$file is not installed"; exit 1; }
done
"$bin/tinyprofd" --check-config --config "$private/usr/share/doc/tinyprof/tinyprofd.toml"

cd /
"$bin/tinyprofd" 2>"$private/log" &
daemon_pid=$!
"$bin/tinyprof-client" health --wait 30s || { cat "$private/log"; exit 1; }
worker() { readlink /proc/[0-9]*/exe 2>/dev/null | grep -Fx "$bin/tinyprof-worker" || true; }
"$bin/tinyprof-client" profile mlp --time-budget 3s >"$private/profile" &
client_pid=$!
seen=
while kill -0 "$client_pid" 2>/dev/null; do
  [[ -n "$(worker)" ]] && seen=yes
  sleep 0.05
done
wait "$client_pid"
grep -q '^mlp (zoo)' "$private/profile" || { cat "$private/profile"; exit 1; }
[[ -n "$seen" ]] || { echo "the installed worker did not measure"; exit 1; }

# SIGTERM is how systemd and people stop it.
kill "$daemon_pid"
wait "$daemon_pid" || { echo "tinyprofd ended with $?"; cat "$private/log"; exit 1; }
daemon_pid=

# It starts what was installed; else stopping the service kills the run that may end first, and a worker without memory the daemon.
for line in "ExecStart=$bin/tinyprofd" KillMode=mixed OOMPolicy=continue; do
  grep -qx "$line" "$private/usr/lib/systemd/system/tinyprofd.service" || { echo "the unit lacks $line"; exit 1; }
done

if ! command -v systemd-analyze >/dev/null; then
  echo "systemd-analyze is not here: the unit file was not checked"
  exit 0
fi
systemd-analyze verify "$private/usr/lib/systemd/system/tinyprofd.service"
echo "the unit file is right"
