#!/usr/bin/env bash
# The shape of the repository: top-level folders, a README in each, finished merges, and formatted sources.
set -euo pipefail
cd "$1"
failed=0
fail() {
  echo "$*"
  failed=1
}
extra=$(git ls-files | awk -F/ 'NF > 1 {print $1}' | sort -u |
  grep -vxE 'proto|daemon|client|kernels|tests|deploy|\.ci' || true)
[[ -z "$extra" ]] || fail "top-level folders that the layout does not have: $extra"
for folder in proto daemon client kernels tests deploy; do
  [[ -f $folder/README.md ]] || fail "$folder/README.md is missing"
done
while read -r link; do
  [[ -e $link ]] || fail "ARCHITECTURE.md links to $link, which does not exist"
done < <(grep -oE '\]\([^)#]+\)' ARCHITECTURE.md | sed 's/^](//; s/)$//' | grep -v '^http')
unmerged=$(git grep -lE '^(<{7}|>{7})( |$)' || true)
[[ -z "$unmerged" ]] || fail "marks of a merge are left in: $unmerged"
unformatted=$(git ls-files '*.cc' '*.h' | xargs -r clang-format --dry-run -Werror 2>&1 |
  grep -oE '^[^ :]+\.(cc|h)' | sort -u || true)
[[ -z "$unformatted" ]] || fail "clang-format changes: $unformatted"
exit $failed
