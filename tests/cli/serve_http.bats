#!/usr/bin/env bats
# tk serve over HTTP, asked by curl.

load common
# shellcheck source=serve.bash
. "$BATS_TEST_DIRNAME/serve.bash"

ndjson='Content-Type: application/x-ndjson'

@test "what is appended over HTTP is what consume -J prints, and the other way" {
  serve
  printf '%s\n' '{"key":"a","value":"1"}' '{"key":null,"value":null,"headers":[["h","v"],["n",null]],"ts":1700000000000}' \
    '{"key_b64":"/w==","value_b64":"AP8="}' >in
  get /topics/t/records -H "$ndjson" --data-binary @in
  equal "$code" 200
  equal "$(jq -rc '.[] | [.topic, .partition, .base_offset, .last_offset, .count]' <<<"$body")" '["t",0,0,2,3]'
  get '/topics/t/records?offset=0'
  equal "$code" 200
  tk consume t -J | cmp - body
  equal "$(sed -n 2p body | jq -c '[.key, .value, .headers, .ts]')" '[null,null,[["h","v"],["n",null]],1700000000000]'
  equal "$(sed -n 3p body | jq -c '[.key_b64, .value_b64]')" '["/w==","AP8="]'
  get '/topics/t/records?format=json'
  equal "$(jq -c '[(.records | length), .next, .high_watermark, .log_start_offset]' body)" '[3,{"0":3},{"0":3},{"0":0}]'
}

@test "every kind of body, and what is wrong with some" {
  serve
  get /topics/t/records -H 'Content-Type: application/json' -d '{"value":"one"}'
  get /topics/t/records -H 'Content-Type: application/json' -d '[{"value":"two"},{"value":"three"}]'
  get /topics/t/records -H 'Content-Type: application/json; charset=utf-8' -d '{"records":[{"value":"four"}]}'
  printf 'k5:five\nk6:six\n' >lines
  get '/topics/t/records?key_separator=:' -H 'Content-Type: text/plain' --data-binary @lines
  get '/topics/t/records?key=k7' -H 'Content-Type: application/octet-stream' -d 'seven
is long'
  equal "$code" 200
  equal "$(tk consume t -K : | tr '\n' ' ')" ":one :two :three :four k5:five k6:six k7:seven is long "
  get /topics/t/records -H 'Content-Type: application/xml' -d '<a/>'
  equal "$code $(jq -r .error body)" "415 INVALID_REQUEST"
  printf '{"value":"good"}\n{"value":\n' >bad
  get /topics/t/records -H "$ndjson" --data-binary @bad
  equal "$code $(jq -r '.error, .line' body | tr '\n' ' ')" "400 INVALID_RECORD 2 "
  get /topics/t/records -H 'Content-Type: application/json' -d '[{"value":"good"},7]'
  equal "$code $(jq -r '.error, .index' body | tr '\n' ' ')" "400 INVALID_RECORD 1 "
  get '/topics/t/partitions/7/records' -H "$ndjson" -d '{"value":"x"}'
  equal "$code" 404
  # Nothing of what was refused is there.
  equal "$(tk consume t -K : | wc -l)" 8
}

@test "a long poll returns at once when something comes, and empty when its time is over" {
  serve
  get /topics/t/records -H "$ndjson" -d '{"value":"first"}'
  (sleep 0.5; tk produce t <<<"second" -q) 3>&- &
  SECONDS=0
  get '/topics/t/records?offset=end&wait_ms=15000'
  [ "$SECONDS" -lt 8 ]
  equal "$code $(jq -r .value body)" "200 second"
  next=$(tr -d '\r' <head | awk '/^Tk-Next/ {print $2}')
  equal "$next" "0:2"
  get "/topics/t/records?cursor=$next&wait_ms=300"
  equal "$code $(wc -c <body)" "204 0"
  (sleep 0.2; printf 'a\nb\n' | tk produce t -q; sleep 0.3; echo c | tk produce t -q) 3>&- &
  get "/topics/t/records?cursor=$next&wait_ms=15000&min_records=3"
  equal "$(jq -r .value body | tr '\n' ' ')" "a b c "
  get "/topics/t/records?cursor=$next&max_records=2"
  equal "$(jq -r .value body | tr '\n' ' ')" "a b "
}

@test "server-sent events go on behind the last id" {
  serve
  seq 1 5 | tk produce t -q
  timeout 2 curl -sN "http://$http/topics/t/records?offset=-2&format=sse" >events || true
  equal "$(grep -c ^data: events)" 2
  equal "$(sed -n 's/^id: //p' events | tr '\n' ' ')" "0:4 0:5 "
  timeout 2 curl -sN -H 'Last-Event-ID: 0:3' -H 'Accept: text/event-stream' "http://$http/topics/t/records" >events || true
  equal "$(sed -n 's/^data: //p' events | jq -r .value | tr '\n' ' ')" "4 5 "
  timeout 5 curl -sN "http://$http/topics/t/records?follow=1&max_records=3" >followed
  equal "$(jq -r .value followed | tr '\n' ' ')" "1 2 3 "
}

@test "an offset outside of the log is an error that says what there is" {
  serve
  seq 1 10 | tk produce t -q
  tk delete-records t-0=4 -q
  get '/topics/t/partitions/0/records?offset=11'
  equal "$code $(jq -c '[.error, .log_end_offset]' body)" '416 ["OFFSET_OUT_OF_RANGE",10]'
  for _ in $(seq 50); do
    get '/topics/t/partitions/0/records?offset=0'
    [ "$code" = 416 ] && break
    sleep 0.05
  done
  equal "$code $(jq -c '[.error, .log_start_offset]' body)" '416 ["OFFSET_OUT_OF_RANGE",4]'
  get '/topics/t/partitions/0/records?key=7'
  equal "$code" 204
  get '/topics/t/records?wait_ms=999999'
  equal "$code" 400
}

@test "topics, groups, health and metrics" {
  serve
  get /topics -X POST -d '{"name":"made","partitions":3,"format":"json","configs":{"segment.bytes":"4096"}}'
  equal "$code $(jq -r '.[].partition' body | wc -l)" "201 3"
  get /topics -X POST -d '{"name":"made"}'
  equal "$code $(jq -r .error body)" "409 TOPIC_ALREADY_EXISTS"
  get /topics -X POST -d '{"name":"../x"}'
  equal "$code" 400
  seq 1 30 | tk produce made -q
  get /topics
  equal "$(jq -c . body)" "$(tk topics list --json | jq -sc .)"
  get /topics/made
  equal "$(jq -c . body)" "$(tk topics describe made --json | jq -sc .)"
  get '/topics/made/partitions/0/offsets?time=earliest'
  equal "$(jq -c .offset body)" 0
  get /groups/g/offsets -X PUT -d '{"made-0":0}'
  equal "$code" 200
  get /groups
  equal "$(jq -c . body)" "$(tk groups list --json | jq -sc .)"
  get /groups/g
  equal "$(jq -c . body)" "$(tk groups describe g --json | jq -sc .)"
  get /groups/none
  equal "$code $(jq -r .error body)" "404 GROUP_ID_NOT_FOUND"
  get /healthz
  equal "$code $body" "200 ok"
  get /readyz
  equal "$code" 200
  get /metrics
  for name in tk_log_end_offset tk_group_lag tk_bytes_total tk_requests_total process_open_fds; do grep -q "^$name" body; done
  get /topics/made -X DELETE
  equal "$code" 204
  get /topics/made
  equal "$code" 404
  get /
  equal "$(jq -r '.name, .read_only' body | tr '\n' ' ')" "tk false "
}

@test "paths, methods, foreign hosts and origins" {
  serve --cors http://good.example --http-host proxy.example
  get /nothing
  equal "$code" 404
  get /topics -X PATCH
  equal "$code" 405
  grep -qi '^allow: GET' head
  get /topics -H 'Host: evil.example'
  equal "$code" 421
  get /topics -H 'Host: proxy.example:80'
  equal "$code" 200
  get /topics -H 'Origin: http://evil.example'
  equal "$code" 403
  get /topics -H 'Origin: http://good.example'
  equal "$code" 200
  grep -qi '^access-control-allow-origin: http://good.example' head
  get /topics -X OPTIONS -H 'Origin: http://good.example'
  equal "$code" 204
  get /topics -I
  equal "$code" 200
  get /topics -H "X: $(head -c 20000 /dev/zero | tr '\0' x)"
  equal "$code" 431
}
