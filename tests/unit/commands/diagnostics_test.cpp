#include "commands/diagnostics.h"

#include <doctest/doctest.h>

using namespace tk;

namespace {

class Collected final : public Diagnostics {
 public:
  using Diagnostics::Diagnostics;
  std::string text;

 protected:
  void emit(std::string_view lines) override { text += lines; }
};

}  // namespace

TEST_CASE("usage over damage over refusal over failure") {
  CHECK(worse_exit_code(0, 1) == 1);
  CHECK(worse_exit_code(1, 4) == 4);
  CHECK(worse_exit_code(4, 3) == 3);
  CHECK(worse_exit_code(3, 4) == 3);
  CHECK(worse_exit_code(3, 2) == 2);
  CHECK(worse_exit_code(1, 0) == 1);
}

TEST_CASE("an error as text and as JSON") {
  const Error full =
      Error(ErrorCode::corrupt_message, "checksum mismatch").at("dir/a\nb.log", 40960).hint("run tk recover");
  CHECK(error_text(full) ==
        "tk: error: checksum mismatch\n  at 'dir/a\\x0ab.log' byte 40960\n  hint: run tk recover\n");
  CHECK(error_json(full) ==
        "{\"error\":\"CORRUPT_MESSAGE\",\"message\":\"checksum mismatch\","
        "\"path\":\"dir/a\\nb.log\",\"position\":40960}\n");
  const Error bare(ErrorCode::invalid_request, "no topic given");
  CHECK(error_text(bare) == "tk: error: no topic given\n");
  CHECK(error_json(bare) ==
        "{\"error\":\"INVALID_REQUEST\",\"message\":\"no topic given\",\"path\":null,\"position\":null}\n");
}

TEST_CASE("what is shown, and what it adds up to") {
  Collected quiet(true, false);
  quiet.note("n");
  quiet.detail("d");
  quiet.warning("w");
  CHECK(quiet.text == "tk: warning: w\n");
  CHECK(quiet.exit_code() == 0);
  quiet.error(Error(ErrorCode::log_dir_locked, "held"));
  quiet.error(Error(ErrorCode::corrupt_message, "first"));
  quiet.error(Error(ErrorCode::corrupt_message, "second"));
  quiet.error(Error(ErrorCode::storage_error, "full"));
  CHECK(quiet.exit_code() == 3);
  CHECK(quiet.worst_error()->message() == "first");

  Collected verbose(false, true);
  verbose.note("n\x1b[31m");
  verbose.detail("d");
  CHECK(verbose.text == "tk: n\\x1b[31m\ntk: d\n");
}
