# shellcheck shell=bash
# Sourced by scripts that need a daemon of their own: starts BIN_DIR/tinyprofd on a socket in $scratch, a
# temporary folder, and ends and removes both when the script does. Usage: start_own_daemon BIN_DIR
start_own_daemon() {
  local bin=$1
  scratch=$(mktemp -d)
  end_own_daemon() {
    if [[ -n ${own_daemon:-} ]]; then kill "$own_daemon"; wait "$own_daemon" || true; fi
    rm -rf "$scratch"
  }
  trap end_own_daemon EXIT
  export TINYPROF_LISTEN=unix:$scratch/d.sock TINYPROF_ADDRESS=unix:$scratch/d.sock
  export TINYPROF_STATE_DIR=$scratch/state TINYPROF_LOCK_FILE=$scratch/lock
  "$bin/tinyprofd" >"$scratch/log" 2>&1 &
  own_daemon=$!
  for _ in $(seq 100); do
    "$bin/tinyprof-client" health >/dev/null 2>&1 && return
    kill -0 "$own_daemon" || { cat "$scratch/log"; exit 1; }
    sleep 0.1
  done
  cat "$scratch/log"
  exit 1
}
