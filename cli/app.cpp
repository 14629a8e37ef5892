#include "cli/app.h"

#include <unistd.h>

#include <memory>
#include <new>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_table.h"
#include "cli/globals.h"
#include "cli/help.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "commands/context.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/io/file_system.h"
#include "core/io/output.h"

namespace tk::cli {
namespace {

// What argv asks for: a command, or a text about the program.
struct Invocation {
  const CommandRow* row = nullptr;
  /// The arguments without the words of the command; options that stood before it come first.
  std::vector<std::string> args;
  std::string text;
};

void drop_word(Invocation& invocation, std::size_t at) {
  invocation.args.erase(invocation.args.begin() + static_cast<std::ptrdiff_t>(at));
}

// Finds the command behind the global options; only those are known yet.
Invocation find_invocation(const std::vector<std::string>& args) {
  Invocation found;
  found.args = args;
  CommandSpec top("", "");
  GlobalOptions globals;
  bind_top(top, globals);
  const auto before = read_arguments(top, found.args, 0, StopAt::argument);
  if (before.help || top.count("version") > 0) {
    found.text = before.help ? overview_help() : std::string(version_text());
    return found;
  }
  if (before.next == found.args.size()) usage_error("no command given");
  const std::string first = found.args[before.next];
  drop_word(found, before.next);
  if (!is_command_prefix(first)) {
    found.row = find_command(first);
    if (found.row == nullptr) unknown_command("", first);
    return found;
  }
  const auto between = read_arguments(top, found.args, before.next, StopAt::argument);
  if (between.help) {
    found.text = prefix_help(first);
    return found;
  }
  if (between.next == found.args.size()) {
    std::string message = "'tk " + first + "' wants one of";
    for (const std::string& word : command_words(first)) message += " " + word;
    usage_error(std::move(message));
  }
  const std::string second = found.args[between.next];
  drop_word(found, between.next);
  found.row = find_command(first + " " + second);
  if (found.row == nullptr) unknown_command(first, second);
  return found;
}

// One run of the program: what it has found out so far is needed to report a failure at any point.
class Session {
 public:
  explicit Session(const std::atomic<int>& interrupted)
      : interrupted_(interrupted), out_(STDOUT_FILENO), diagnostics_(plain_diagnostics()) {}

  int run(const std::vector<std::string>& args) {
    json_ = looks_like_json(args);
    int code = 0;
    guarded([&] { code = dispatch(args); });
    guarded([&] { out_.flush(); });
    code = worse_exit_code(code, diagnostics_->exit_code());
    if (json_ && code != 0) diagnostics_->finish_json();
    const int signal = interrupted_.load();
    return signal != 0 ? 128 + signal : code;
  }

 private:
  static std::unique_ptr<StderrDiagnostics> plain_diagnostics() {
    return std::make_unique<StderrDiagnostics>(false, false, use_color(ColorMode::automatic, STDERR_FILENO));
  }

  // Until the options are read, a plain look decides how a mistake in them is reported.
  static bool looks_like_json(const std::vector<std::string>& args) {
    for (const std::string& arg : args) {
      if (arg == "--") break;
      if (arg == "--json" || arg == "-J") return true;
    }
    return false;
  }

  // Turns what is thrown into a reported error. Only the first counts: a failed write to stdout fails again
  // in the final flush.
  template <class F>
  void guarded(F action) {
    std::optional<Error> error;
    try {
      action();
    } catch (const Error& thrown) {
      error = thrown;
    } catch (const std::bad_alloc&) {
      error = Error(ErrorCode::storage_error, "out of memory");
    } catch (const std::exception& thrown) {
      error = Error(ErrorCode::storage_error, std::string("unexpected failure: ") + thrown.what());
    }
    if (error && !failed_) diagnostics_->error(*error);
    failed_ = failed_ || error.has_value();
  }

  int dispatch(const std::vector<std::string>& args) {
    std::string pointer = "see 'tk --help'";
    try {
      const Invocation invocation = find_invocation(args);
      if (invocation.row == nullptr) {
        out_.write(invocation.text);
        return 0;
      }
      pointer = "see 'tk " + std::string(invocation.row->name) + " --help'";
      CommandSpec spec(invocation.row->name, invocation.row->purpose);
      return prepare(invocation, spec) ? execute(spec) : 0;
    } catch (const Error& error) {
      if (executing_ || !error.hint().empty()) throw;
      throw Error(error).hint(pointer);
    }
  }

  // Reads the options into `spec`; false if help was asked for and printed instead.
  bool prepare(const Invocation& invocation, CommandSpec& spec) {
    invocation.row->bind(spec);
    bind_globals(spec, globals_);
    auto read = read_arguments(spec, invocation.args, 0, StopAt::end);
    if (read.help) {
      out_.write(command_help(spec));
      return false;
    }
    environment_ = read_environment();
    spec.set_now(environment_.now_ms.value_or(SystemClock().now_ms()));
    apply_options(read, true);
    if (globals_.at) spec.set_now(*globals_.at);
    apply_options(read, false);
    spec.set_arguments(std::move(read.arguments));
    spec.run_checks();
    json_ = spec.count("json") > 0;
    return true;
  }

  int execute(CommandSpec& spec) {
    const SystemClock system_clock;
    const FixedClock frozen_clock(spec.now_ms());
    const bool frozen = globals_.at || environment_.now_ms;
    diagnostics_ = std::make_unique<StderrDiagnostics>(globals_.quiet, globals_.verbose,
                                                       use_color(globals_.color, STDERR_FILENO));
    const auto named = globals_.directory ? globals_.directory : environment_.directory;
    Context context{
        .directory = named.value_or("tk-data"),
        .directory_given = globals_.directory.has_value(),
        .json = json_,
        .quiet = globals_.quiet,
        .color_out = use_color(globals_.color, STDOUT_FILENO),
        .color_err = use_color(globals_.color, STDERR_FILENO),
        .stderr_is_terminal = ::isatty(STDERR_FILENO) == 1,
        .lock_timeout_ms = globals_.lock_timeout_ms,
        .default_format = environment_.format,
        .clock = frozen ? static_cast<const Clock&>(frozen_clock) : system_clock,
        .fs = posix_file_system(),
        .out = out_,
        .diagnostics = *diagnostics_,
        .interrupted = interrupted_,
    };
    executing_ = true;
    return spec.execute(context);
  }

  const std::atomic<int>& interrupted_;
  OutputStream out_;
  std::unique_ptr<StderrDiagnostics> diagnostics_;
  GlobalOptions globals_;
  Environment environment_;
  bool json_ = false;
  bool executing_ = false;
  bool failed_ = false;
};

}  // namespace

int run_command_line(const std::vector<std::string>& args, const std::atomic<int>& interrupted) noexcept {
  return Session(interrupted).run(args);
}

}  // namespace tk::cli
