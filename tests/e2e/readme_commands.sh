#!/usr/bin/env bash
# Runs every command of README.md's `sh` blocks, in order, against a daemon of its own.
#
# Usage: readme_commands.sh README BIN_DIR. The two set-up commands are left to tests/run.sh, which runs
# the one and is the other.
set -euo pipefail
readme=$(realpath "$1")
PATH=$(realpath "$2"):$PATH
. "$(dirname "$(realpath "$0")")/private_daemon.sh"

cd "$private"

count=0
while IFS= read -r line; do
  case "$line" in
    deploy/quickstart.sh* | tests/run.sh* | '#'* | '') continue ;;
    ssh\ *) continue ;; # needs another machine
    tinyprofd*'&')
      echo "+ $line"
      tinyprofd 2>log &
      daemon_pid=$!
      tinyprof-client health --wait 30s || { cat log; exit 1; }
      ;;
    *)
      echo "+ $line"
      bash -o pipefail -c "$line" >out 2>err || { echo "failed with $?:"; cat out err; exit 1; }
      [[ -s out ]] || { echo "printed nothing"; cat err; exit 1; }
      ;;
  esac
  count=$((count + 1))
done < <(awk '/^```sh$/ {inside = 1; next} /^```/ {inside = 0} inside' "$readme")
((count >= 5)) || { echo "only $count commands found in $readme"; exit 1; }
echo "$count commands ran"
