#include "core/sim/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace tk {
namespace {

struct NamedOp {
  std::string_view first;
  Op second;
};
constexpr NamedOp kNames[] = {
    {"config", Op::config},
    {"append", Op::append},
    {"fetch", Op::fetch},
    {"sync", Op::sync},
    {"read", Op::read},
    {"commit", Op::commit},
    {"tick", Op::tick},
    {"kill", Op::kill},
    {"start", Op::start},
    {"bounce", Op::bounce},
    {"stop", Op::stop},
    {"fence", Op::fence},
    {"unfence", Op::unfence},
    {"elect", Op::elect},
    {"partition", Op::partition},
    {"heal", Op::heal},
    {"propagate", Op::propagate},
    {"learn", Op::learn},
    {"checkpoint", Op::checkpoint},
    {"flush", Op::flush},
    {"retain", Op::retain},
    {"corrupt", Op::corrupt},
    {"tear", Op::tear},
    {"rebuild", Op::rebuild},
    {"scrub", Op::scrub},
    {"full", Op::full},
    {"room", Op::room},
    {"txn", Op::txn},
    {"send", Op::send},
    {"deliver", Op::deliver},
    {"drop", Op::drop},
    {"dup", Op::dup},
    {"quorum", Op::quorum},
    {"expect log", Op::expect_log},
    {"expect leader", Op::expect_leader},
    {"expect reply", Op::expect_reply},
    {"expect lost", Op::expect_lost},
    {"expect logs-equal", Op::expect_logs_equal},
    {"expect logs-diverge", Op::expect_logs_diverge},
    {"expect-violation", Op::expect_violation},
};

/// Reads the words of one step. Every complaint says what was expected.
class StepParser {
 public:
  explicit StepParser(Step& step) : step_(step) {}

  std::optional<std::string> parse(std::string_view text) {
    std::vector<std::string_view> words = split_words(text, " \t\r");
    if (words.empty()) return "a step was expected";
    std::string name(words.front());
    words.erase(words.begin());
    if (name == "expect") {
      if (words.empty())
        return "'expect' is followed by log, leader, reply, lost, logs-equal or logs-diverge";
      name += " " + std::string(words.front());
      words.erase(words.begin());
    }
    const auto found = std::find_if(std::begin(kNames), std::end(kNames),
                                    [&](const auto& known) { return known.first == name; });
    if (found == std::end(kNames)) return unknown(name);
    step_.op = found->second;
    if (step_.op == Op::expect_reply) {
      const std::size_t at = text.find("reply");
      std::string_view rest = text.substr(at + 5);
      while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
      step_.words = {std::string(rest)};
      return {};
    }
    for (const std::string_view word : words) {
      const std::size_t equals = word.find('=');
      const bool is_option = equals != std::string_view::npos && equals > 0 && step_.op != Op::config;
      if (step_.op == Op::config) {
        if (equals == std::string_view::npos) return fmt::format("config takes key=value, not '{}'", word);
        step_.words.emplace_back(word);
      } else if (is_option) {
        option(word.substr(0, equals), word.substr(equals + 1));
      } else if (word != "=") {
        positional(word);
      }
      if (problem_) return problem_;
    }
    return check();
  }

 private:
  static std::string unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& [known, op] : kNames) names.emplace_back(known);
    if (const auto nearest = nearest_name(name, names))
      return fmt::format("there is no step '{}'; did you mean '{}'?", name, *nearest);
    return fmt::format(
        "there is no step '{}'; expected one such as append, fetch, sync, kill, start, elect, expect", name);
  }

  void fail(std::string problem) {
    if (!problem_) problem_ = std::move(problem);
  }

  std::int64_t number(std::string_view what, std::string_view text) {
    const auto value = parse_int(text);
    if (!value || *value < 0) {
      fail(fmt::format("{} is a whole number from 0, not '{}'", what, text));
      return 0;
    }
    return *value;
  }

  std::int32_t small(std::string_view what, std::string_view text) {
    const std::int64_t value = number(what, text);
    if (value > INT32_MAX) fail(fmt::format("{} is out of range", what));
    return static_cast<std::int32_t>(value);
  }

  void positional(std::string_view word) {
    switch (step_.op) {
      case Op::append:
        if (word == "txn") {
          step_.transactional = true;
        } else {
          step_.words.emplace_back(word);
        }
        return;
      case Op::kill:
        if (word == "clean") {
          step_.clean = true;
          return;
        }
        break;
      case Op::elect:
      case Op::propagate:
      case Op::txn:
      case Op::quorum:
      case Op::expect_violation:
      case Op::expect_lost:
        step_.words.emplace_back(word);
        return;
      case Op::commit:
        if (step_.group.empty()) {
          step_.group = word;
          return;
        }
        break;
      case Op::expect_leader:
        if (word == "none") {
          step_.n = kNoBroker;
          step_.words = {"none"};
          return;
        }
        break;
      case Op::flush:
        step_.links.push_back(small("a replica", word));
        return;
      case Op::expect_log:
        if (step_.n >= 0) {
          step_.words.emplace_back(word);
          return;
        }
        break;
      default:
        break;
    }
    if (step_.n >= 0) return fail(fmt::format("'{}' is one word too many for {}", word, op_name(step_.op)));
    step_.n = number(fmt::format("what follows {}", op_name(step_.op)), word);
  }

  void option(std::string_view key, std::string_view value) {
    if (key == "p") {
      step_.partition = small("p", value);
    } else if (key == "acks") {
      if (value != "0" && value != "1" && value != "all")
        return fail(fmt::format("acks is 0, 1 or all, not '{}'", value));
      step_.acks = value == "0" ? AckLevel::none : value == "1" ? AckLevel::leader : AckLevel::all;
    } else if (key == "to" || key == "on") {
      step_.to = small(key, value);
    } else if (key == "max") {
      step_.max = number("max", value);
    } else if (key == "lose") {
      lose(value);
    } else if (key == "pid") {
      step_.pid = number("pid", value);
    } else if (key == "epoch") {
      step_.epoch = small("epoch", value);
    } else if (key == "seq") {
      step_.sequence = small("seq", value);
    } else if (key == "coordinator") {
      step_.coordinator = small("coordinator", value);
    } else if (key == "group") {
      step_.group = value;
    } else if (key == "iso") {
      if (value != "rc" && value != "ru") return fail(fmt::format("iso is rc or ru, not '{}'", value));
      step_.read_committed = value == "rc";
    } else if (key == "from" && step_.op == Op::partition) {
      links(value);
    } else if (key == "from" || key == "off") {
      step_.from = number(key, value);
    } else if (key == "bytes" || key == "byte" || key == "pe") {
      step_.max = number(key, value);
    } else if (key == "hw") {
      step_.high_watermark = number("hw", value);
    } else if (key == "leo") {
      step_.log_end = number("leo", value);
    } else if (key == "start") {
      step_.log_start = number("start", value);
    } else if (key == "epochs") {
      step_.epochs = value;
    } else if (key == "isr") {
      step_.isr = value;
    } else if (key == "elr") {
      step_.elr = value;
    } else {
      fail(fmt::format("{} has no option '{}'", op_name(step_.op), key));
    }
  }

  void lose(std::string_view value) {
    if (step_.op == Op::kill) {
      if (value == "all") {
        step_.disk.what = DiskLoss::What::unsynced;
      } else if (value.starts_with("bytes:")) {
        step_.disk = {DiskLoss::What::bytes, number("lose=bytes", value.substr(6))};
      } else {
        step_.disk = {DiskLoss::What::records, number("lose", value)};
      }
    } else if (value == "request" || value == "reply") {
      step_.lose = value == "request" ? Cluster::Lose::request : Cluster::Lose::reply;
    } else if (value == "ack") {
      step_.lose_ack = true;
    } else {
      fail(fmt::format("lose is request, reply or ack (of kill: N, bytes:N or all), not '{}'", value));
    }
  }

  void links(std::string_view value) {
    if (value == "all") return;
    for (const std::string_view end : split_words(value, ",")) {
      step_.links.push_back(end == "C" ? kControllerNode : small("from", end));
    }
  }

  std::optional<std::string> check() {
    const auto needs_number = [&] {
      switch (step_.op) {
        case Op::fetch:
        case Op::tick:
        case Op::kill:
        case Op::start:
        case Op::bounce:
        case Op::stop:
        case Op::fence:
        case Op::unfence:
        case Op::partition:
        case Op::learn:
        case Op::retain:
        case Op::corrupt:
        case Op::tear:
        case Op::rebuild:
        case Op::scrub:
        case Op::full:
        case Op::room:
        case Op::send:
        case Op::deliver:
        case Op::drop:
        case Op::dup:
        case Op::commit:
        case Op::expect_log:
        case Op::expect_logs_diverge:
          return true;
        default:
          return false;
      }
    };
    if (needs_number() && step_.n < 0) return fmt::format("{} is followed by a number", op_name(step_.op));
    if (step_.op == Op::append && step_.words.empty()) return "append is followed by at least one value";
    const std::string word = step_.words.empty() ? std::string() : step_.words.front();
    if (step_.op == Op::elect && word != "preferred" && word != "unclean" && word != "online")
      return "elect is followed by preferred, unclean or online";
    if (step_.op == Op::propagate && word != "on" && word != "off")
      return "propagate is followed by on or off";
    if (step_.op == Op::txn && word != "begin" && word != "commit" && word != "abort")
      return "txn is followed by begin, commit or abort";
    if (step_.op == Op::txn && step_.pid < 0) return "txn needs pid=";
    return {};
  }

  Step& step_;
  std::optional<std::string> problem_;
};

}  // namespace

std::vector<std::string_view> split_words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

std::string_view op_name(Op op) {
  const auto found = std::find_if(std::begin(kNames), std::end(kNames),
                                  [&](const auto& known) { return known.second == op; });
  return found == std::end(kNames) ? "" : found->first;
}

std::optional<std::string> parse_step(std::string_view text, Step& step) {
  return StepParser(step).parse(text);
}

std::string format_step(const Step& step) {
  std::string text(op_name(step.op));
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format(" {}={}", key, value);
  };
  if (step.op == Op::commit) text += " " + step.group;
  if (step.n >= 0) text += fmt::format(" {}", step.n);
  if (step.op == Op::expect_log || step.op == Op::expect_lost) {
    if (step.op == Op::expect_lost) add("acks", ack_level_name(step.acks));
    text += " =";
  }
  for (const std::string& word : step.words) text += " " + word;
  for (const BrokerId id : step.links) {
    if (step.op == Op::flush) text += fmt::format(" {}", id);
  }
  if (step.op == Op::append && step.acks != AckLevel::all) add("acks", ack_level_name(step.acks));
  if (step.partition != 0) add("p", step.partition);
  if (step.to != kNoBroker) add(step.op == Op::read ? "on" : "to", step.to);
  if (step.max != kNoLimit)
    add(step.op == Op::corrupt         ? "byte"
        : step.op == Op::tear          ? "bytes"
        : step.op == Op::expect_leader ? "pe"
                                       : "max",
        step.max);
  if (step.lose != Cluster::Lose::nothing)
    add("lose", step.lose == Cluster::Lose::reply ? "reply" : "request");
  if (step.lose_ack) add("lose", "ack");
  if (step.disk.what == DiskLoss::What::records) add("lose", step.disk.count);
  if (step.disk.what == DiskLoss::What::bytes) text += fmt::format(" lose=bytes:{}", step.disk.count);
  if (step.disk.what == DiskLoss::What::unsynced) add("lose", "all");
  if (step.clean) text += " clean";
  if (step.pid >= 0) add("pid", step.pid);
  if (step.epoch >= 0) add("epoch", step.epoch);
  if (step.sequence >= 0) add("seq", step.sequence);
  if (step.coordinator > 0) add("coordinator", step.coordinator);
  if (step.transactional) text += " txn";
  if (step.op == Op::read && !step.group.empty()) add("group", step.group);
  if (step.op == Op::read && step.read_committed) add("iso", "rc");
  if (step.op == Op::partition && !step.links.empty()) {
    std::string ends;
    for (const BrokerId id : step.links) {
      if (!ends.empty()) ends += ",";
      ends += id == kControllerNode ? "C" : std::to_string(id);
    }
    add("from", ends);
  }
  if (step.from >= 0) add(step.op == Op::corrupt ? "off" : "from", step.from);
  if (step.epochs) add("epochs", *step.epochs);
  if (step.high_watermark) add("hw", *step.high_watermark);
  if (step.log_end) add("leo", *step.log_end);
  if (step.log_start) add("start", *step.log_start);
  if (step.isr) add("isr", *step.isr);
  if (step.elr) add("elr", *step.elr);
  return text;
}

}  // namespace tk
