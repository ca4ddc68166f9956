#!/bin/sh
# matrix.sh SCHEDSCOPE SHARED [OPTION…]: matrix.mjs with the Node that fixtures.sh installed, or the system's; 77 without one.
fixtures=${SCHEDSCOPE_FIXTURES:-/var/cache/schedscope-fixtures}
node=$fixtures/node/node
[ -x "$node" ] || node=$(command -v node) || { echo "matrix: there is no Node here"; exit 77; }
exec "$node" "$(dirname "$0")/matrix.mjs" "$@"
