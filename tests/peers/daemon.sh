# Sourced by the tests here: a daemon of its own, with a scratch folder, until the script ends.
# Wants `bin`, the folder of the programs; gives `scratch`.
scratch=$(mktemp -d)
cleanup() {
  if [[ -n ${daemon:-} ]]; then kill "$daemon"; wait "$daemon" || true; fi
  rm -rf "$scratch"
}
trap cleanup EXIT
export TINYPROF_LISTEN=unix:$scratch/d.sock TINYPROF_ADDRESS=unix:$scratch/d.sock
export TINYPROF_STATE_DIR=$scratch/state TINYPROF_LOCK_FILE=$scratch/lock
"$bin/tinyprofd" >"$scratch/log" 2>&1 &
daemon=$!
for _ in $(seq 100); do
  "$bin/tinyprof-client" health >/dev/null 2>&1 && break
  kill -0 "$daemon" || { cat "$scratch/log"; exit 1; }
  sleep 0.1
done
