# To be sourced: a folder of its own in $private, addresses of a daemon there in the environment, and
# both gone at exit, with the daemon whose process is $daemon_pid.
private=$(mktemp -d)
daemon_pid=
stop() {
  [[ -z "$daemon_pid" ]] || { kill "$daemon_pid" 2>/dev/null && wait "$daemon_pid"; } || true
  rm -rf "$private"
}
trap stop EXIT

export TINYPROF_LISTEN="unix:$private/tinyprofd.sock" TINYPROF_STATE_DIR="$private/state"
export TINYPROF_LOCK_FILE="$private/lock" TINYPROF_ADDRESS="unix:$private/tinyprofd.sock"
