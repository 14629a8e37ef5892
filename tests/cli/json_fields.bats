# Every member that a command prints with --json is named on its page in docs/commands.
load common

# fields_of PAGE [OTHER_PAGE]: the members of the JSON on stdin are words of the page, or of the other one.
fields_of() {
  local page=$project/docs/commands/$1.md other=$project/docs/commands/${2:-$1}.md json missing=0 field
  json=$(cat)
  [ -n "$json" ] || { echo "$1: nothing was printed"; return 1; }
  while read -r field; do
    grep -qw -- "$field" "$page" "$other" || { echo "$1: $field"; missing=1; }
  done < <(jq -r 'del(.detail?, .events?) | paths | map(select(type == "string" and test("^[a-z_]+$"))) | .[-1] // empty' <<< "$json" | sort -u)
  return $missing
}

@test "topics, records, files" {
  tk topics create t -p 2 -c segment.bytes=4096 -q
  seq 300 | tk produce t -k x --json | fields_of produce
  tk topics list --json | fields_of topics-list
  tk topics describe --json | fields_of topics-describe
  tk topics describe --configs --json | fields_of topics-describe
  tk consume t -J -n 1 | fields_of consume
  tk dump-log t --json --print-data-log 2> err | fields_of dump-log
  tk verify --json | fields_of verify
  tk recover --json --full | fields_of recover
  tk retain -c retention.bytes=100 --json --dry-run | fields_of retain
  tk compact -c cleanup.policy=compact --json --force --dry-run | fields_of compact
  tk get-offsets --json | fields_of get-offsets
  tk delete-records t-0=0 --json | fields_of delete-records
  tk topics delete t --json 2> err | fields_of topics-delete
}

@test "groups and producers" {
  seq 9 | tk produce t -q
  tk rebalance g --topic t --join a --json | fields_of rebalance
  tk commit g t-0=1 --member a --generation 1 --json | fields_of commit
  tk groups list --json | fields_of groups-list
  tk groups describe g --json --lag-records | fields_of groups-describe
  tk groups describe g --json --members | fields_of groups-describe
  tk groups describe g --json --state | fields_of groups-describe groups-list
  tk groups events g --json | fields_of groups-events
  tk rebalance g --leave a -q > left
  tk groups reset-offsets g --to-earliest --topic t --json 2> err | fields_of groups-reset-offsets
  tk groups delete-offsets g --topic t --json 2> err | fields_of groups-delete-offsets
  tk groups delete g --json 2> err | fields_of groups-delete
  tk txn begin x --json | fields_of txn-begin
  seq 3 | tk produce o --txn x -q
  tk txn list --json | fields_of txn-list
  tk txn describe x --json | fields_of txn-describe txn-list
  seq 3 | tk produce n --producer p -q
  tk producers list --json | fields_of producers-list
}

@test "clusters" {
  tk cluster init -q
  tk topics create t -q
  tk cluster status --json | fields_of cluster-status
  tk replicate-sim t-0 --json | fields_of replicate-sim
  tk cluster stop 1
  tk failover t-0 --dry-run --json | fields_of failover
  tk failover t-0 --json | fields_of failover
  tk cluster events --json | fields_of cluster-events
  tk replicate-sim --seeds 1..2 --json | fields_of replicate-sim
}

@test "a broker's directory" {
  local broker
  broker=$(fixture kafka-4.4-clean)/data
  tk -d "$broker" groups list --json | fields_of groups-list
  tk -d "$broker" groups describe g-classic-live --members --json | fields_of groups-describe
  tk -d "$broker" txn list --json | fields_of txn-list
  tk recover "$broker" --as-broker --dry-run --json | fields_of recover
  tk dump-log "$broker/__consumer_offsets-0" --json --print-data-log 2> err | head -n 20 | jq -c 'del(.key_decoded, .value_decoded)' | fields_of dump-log
}
