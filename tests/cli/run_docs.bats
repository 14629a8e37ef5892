# The runner of the documents' command lines notices what is false.
load common

# page_says TEXT PATTERN: a page with this text fails, and says so.
page_fails() {
  printf '%b' "$1" > page.md
  TK=$TK run --separate-stderr "$project/tests/docs/run_docs.py" page.md
  [ "$status" -eq 1 ] || { echo "exit $status for: $1"; return 1; }
  contains "$output" "$2"
}

@test "a page that is true passes, and its commands are counted" {
  printf '%s\n' '<!-- $ echo seen > file -->' '```console' '$ cat file' 'seen' '$ seq 3 | tk produce t' 't-0 ...' '$ tk consume x' '...' '$ echo $?' '1' \
    '$ tk consume t |' '> head -n 1' '1' '```' > page.md
  TK=$TK run --separate-stderr "$project/tests/docs/run_docs.py" page.md
  equal "$status" 0
  equal "$output" "6 passed, 0 failed"
}

@test "a page that is false fails, with its line" {
  page_fails '# x\n```console\n$ echo one\ntwo\n```\n' 'page.md:3: $ echo one'
  page_fails '```console\n$ echo one\n```\n' '+one'
  page_fails '```console\n$ true\nsomething\n```\n' '-something'
  page_fails '```console\n$ tk consume nothing\n...\n```\n' 'exit 1, and no'
  page_fails '```console\n$ exit 0\n$ echo after\nafter\n```\n' 'did not come to an end'
  page_fails '```console\n$ true\n```\n<!-- $ false -->\n' 'a hidden line failed with 1'
  page_fails 'See `tk consme x`.\n```console\n$ true\n```\n' 'no command `tk consme'
  page_fails 'See `tk verify --fast`.\n' 'has no option --fast'
  page_fails 'See [there](nowhere.md).\n' 'nowhere.md leads nowhere'
  page_fails 'Do\n\n    tk consume t\n' 'which nothing runs'
  page_fails '```sh\ntk consume t\n```\n' 'neither `console` nor'
}
