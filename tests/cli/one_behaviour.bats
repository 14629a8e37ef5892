# What all commands have in common holds for each of them: tests/cli/one_behaviour.py has the table and the rules.
load common

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
holds() { python3 "$here/one_behaviour.py" "$TK" "$1"; }

@test "every command is in the table" { holds complete; }
@test "a valid use prints data on stdout, the rest on stderr" { holds valid_use; }
@test "--json: objects with the documented members and types" { holds json; }
@test "global options stand anywhere; TK_DIR and tk-data" { holds global_options; }
@test "a missing directory" { holds missing_directory; }
@test "a file as directory" { holds file_as_directory; }
@test "a directory that cannot be written" { holds unwritable_directory; }
@test "a mistyped option, and other usage errors" { holds mistyped_option; }
@test "a mistyped command" { holds mistyped_command; }
@test "a mistyped topic, group or transaction" { holds mistyped_name; }
@test "help" { holds help; }
@test "a full output" { holds full_output; }
@test "closed streams" { holds closed_streams; }
@test "a broken pipe" { holds broken_pipe; }
@test "signals" { holds signals; }
@test "readers and --dry-run change nothing" { holds readers_change_nothing; }
@test "a live broker's directory" { holds live_broker; }
@test "a lock that another tk holds" { holds another_tk; }
@test "colour" { holds colour; }
@test "progress" { holds progress; }
@test "no rule of the runner is left out here" {
  local rule
  for rule in $(python3 "$here/one_behaviour.py" "$TK" list); do grep -q "holds $rule;" "$BATS_TEST_FILENAME" || { echo "$rule"; false; }; done
}
