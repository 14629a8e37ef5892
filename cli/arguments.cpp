#include "cli/arguments.h"

#include "core/base/error.h"
#include "core/base/text.h"

namespace tk::cli {
namespace {

[[noreturn]] void unknown_option(const CommandSpec& spec, const std::string& spelled) {
  if (spelled == "--bootstrap-server") {
    usage_error(
        "unknown option '--bootstrap-server': tk reads a directory, not a broker; name it with --dir");
  }
  std::vector<std::string> names;
  for (const auto& option : spec.options()) {
    for (std::string& name : option.spellings()) {
      if (name.starts_with("--")) names.push_back(std::move(name));
    }
  }
  // One dash too few is the commonest mistake: -offset reads as -o ffset or as an unknown -x.
  const std::string sought = spelled.starts_with("--") ? spelled : "-" + spelled;
  std::string message = "unknown option '" + spelled + "'";
  const auto nearest = spelled.size() > 2 ? nearest_name(sought, names) : std::nullopt;
  if (nearest) message += "; did you mean '" + *nearest + "'?";
  usage_error(std::move(message));
}

class Reader {
 public:
  Reader(CommandSpec& spec, const std::vector<std::string>& args, std::size_t from)
      : spec_(spec), args_(args) {
    read_.next = from;
  }

  ReadArguments read(StopAt stop) {
    bool options_end = false;
    while (read_.next < args_.size() && !read_.help) {
      const std::string& arg = args_[read_.next];
      if (options_end || arg.size() < 2 || arg[0] != '-') {
        if (stop == StopAt::argument) break;
        read_.arguments.push_back(arg);
        ++read_.next;
      } else if (arg == "--") {
        options_end = true;
        ++read_.next;
      } else if (arg[1] == '-') {
        ++read_.next;
        long_option(arg);
      } else {
        ++read_.next;
        short_options(arg);
      }
    }
    return std::move(read_);
  }

 private:
  void long_option(const std::string& arg) {
    const auto equals = arg.find('=');
    const std::string spelled = arg.substr(0, equals);
    const CommandSpec::Option* option = spec_.find_long(spelled.substr(2));
    if (option == nullptr) unknown_option(spec_, spelled);
    if (!option->takes_value) {
      if (equals != std::string::npos) usage_error(spelled + " takes no value");
      give(*option, spelled, {});
    } else {
      give(*option, spelled, equals != std::string::npos ? arg.substr(equals + 1) : following(spelled));
    }
  }

  void short_options(const std::string& arg) {
    for (std::size_t at = 1; at < arg.size(); ++at) {
      const CommandSpec::Option* option = spec_.find_short(arg[at]);
      if (option == nullptr) unknown_option(spec_, at == 1 ? arg : std::string("-") + arg[at]);
      const std::string spelled = std::string("-") + arg[at];
      if (!option->takes_value) {
        give(*option, spelled, {});
        continue;
      }
      give(*option, spelled, at + 1 < arg.size() ? arg.substr(at + 1) : following(spelled));
      return;
    }
  }

  const std::string& following(const std::string& spelled) {
    if (read_.next >= args_.size()) usage_error(spelled + " wants a value");
    return args_[read_.next++];
  }

  void give(const CommandSpec::Option& option, const std::string& spelled, const std::string& value) {
    if (option.has_long("help")) read_.help = true;
    // A repeated flag says nothing new; a repeated value would have to win over another.
    if (option.takes_value && !option.repeatable && option.count > 0) {
      usage_error(spelled + " is given twice");
    }
    spec_.count_given(option);
    read_.options.push_back({&option, spelled, value});
  }

  CommandSpec& spec_;
  const std::vector<std::string>& args_;
  ReadArguments read_;
};

}  // namespace

ReadArguments read_arguments(CommandSpec& spec, const std::vector<std::string>& args, std::size_t from,
                             StopAt stop) {
  return Reader(spec, args, from).read(stop);
}

void apply_options(const ReadArguments& read, bool global) {
  for (const GivenOption& given : read.options) {
    if (given.option->global != global) continue;
    try {
      given.option->set(given.value);
    } catch (const Error& error) {
      throw Error(error.code(), given.spelled + ": " + error.message());
    }
  }
}

}  // namespace tk::cli
