#!/bin/sh
# Three replicas on ports 8001 to 8003 with one key, and nginx before them on 8000. Ctrl-C ends all of them.
# usage: sh run.sh [FIRST_PORT]
set -eu
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
first=${1:-8000}
PATH=$PATH:/usr/sbin
run=$(mktemp -d)
started=

finish() {
    trap - EXIT INT TERM
    for pid in $started; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$run"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# From a secret store where replicas are on several machines.
DISCERN_STATE_KEYS=${DISCERN_STATE_KEYS:-$(python3 -c 'import secrets; print(secrets.token_urlsafe(32))')}
export DISCERN_STATE_KEYS

for number in 1 2 3; do
    python "$here/server.py" $((first + number)) &
    started="$started $!"
done
sed "s/:8000/:$first/; s/:8001/:$((first + 1))/; s/:8002/:$((first + 2))/; s/:8003/:$((first + 3))/" \
    "$here/nginx.conf" >"$run/nginx.conf"
nginx -e stderr -p "$run" -c nginx.conf &
started="$started $!"
wait
