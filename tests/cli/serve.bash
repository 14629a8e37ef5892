# What the tests of `tk serve` share: starting and stopping one, and clients.

teardown() {
  [ -z "${server:-}" ] || kill -9 "$server" 2>/dev/null || true
}

# serve ARGS...: starts a server on free ports; sets $server (its process), $kafka and $http.
serve() {
  : >ports
  "$TK" serve --kafka 127.0.0.1:0 --http 127.0.0.1:0 "$@" >ports 2>serve.err 3>&- &
  server=$!
  for _ in $(seq 200); do
    grep -q '^ready' ports && break
    kill -0 "$server" 2>/dev/null || { cat serve.err; return 1; }
    sleep 0.02
  done
  kafka=$(awk '$2 == "kafka" {print $3}' ports)
  http=$(awk '$2 == "http" {print $3}' ports)
}

# stop SIGNAL WANT
stop() {
  local status=0
  kill "-$1" "$server"
  wait "$server" || status=$?
  server=
  equal "$status" "$2"
}

kcat_all() { timeout 20 kcat -C -e -q -b "$kafka" -t "$1" -o beginning "${@:2}"; }

python() { timeout "${PYTHON_SECONDS:-60}" /usr/bin/python3 - "$kafka" "$@"; }

# get ARGS...: curl against the server; $code is the status, $body what came.
get() {
  local path=$1
  shift
  code=$(curl -s -m 20 -o body -D head -w '%{http_code}' "$@" "http://$http$path")
  body=$(cat body)
}
