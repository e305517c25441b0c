#!/usr/bin/env bash
# The include checker finds each kind of violation and passes what is allowed.
set -euo pipefail
checker=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{kernels/base,daemon/store,daemon/rpc,daemon/nowhere,client}

expect() {  # expect WANTED_STATUS FILE LINE
  printf '%s\n' "$3" >"$root/$2"
  status=0
  python3 "$checker" "$root" >"$root/out" || status=$?
  rm "$root/$2"
  if [[ $status -ne $1 ]]; then
    echo "$2 with '$3': exit $status, wanted $1"
    exit 1
  fi
}

expect 0 daemon/store/a.cc '#include "kernels/base/error.h"'
expect 0 daemon/rpc/a.cc '#include <grpcpp/grpcpp.h>'
expect 1 kernels/base/a.h '#include "daemon/store/run_store.h"'
expect 1 daemon/store/a.cc '#include "daemon/rpc/server.h"'
expect 1 daemon/store/a.cc '#include <grpcpp/grpcpp.h>'
expect 1 daemon/rpc/a.cc '#include <papi.h>'
expect 1 daemon/rpc/a.cc '#include <sqlite3.h>'
expect 1 client/a.cc '#include "daemon/jobs/job_queue.h"'
expect 1 daemon/rpc/a.cc '#include "tests/unit/kernels/counted.h"'
