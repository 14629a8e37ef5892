// The fuzz targets without libFuzzer: each runs over its committed corpus and over random damage to it, the
// same in every run. TK_FUZZ_ROUNDS and TK_FUZZ_SEED set how many damaged inputs a target gets and where they
// begin; one that fails names the seed that repeats it alone, and TK_FUZZ_TARGET keeps to one target.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/fuzz/fuzz.h"
#include "tests/support/archive.h"
#include "tests/support/last_words.h"
#include "tests/support/mutation.h"

// fuzz_batch and so on: the targets' entry points.
#define TK_FUZZ_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef TK_FUZZ_TARGET

using namespace tk;
using namespace tk::test;

namespace {

using Function = int (*)(const std::uint8_t*, std::size_t);

struct Target {
  const char* name;
  Function run;
};

constexpr Target kTargets[] = {
#define TK_FUZZ_TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.inc"
#undef TK_FUZZ_TARGET
};

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kRounds = 10000;
#else
constexpr std::uint64_t kRounds = 20000;
#endif

/// Targets that make a disk and look at it in every way cost more than one that parses a text.
std::uint64_t rounds_of(const Target& target, std::uint64_t rounds) {
  const std::string_view name = target.name;
  return name == "scan" || name == "index" ? (rounds + 9) / 10 : rounds;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The inputs of each target by their names.
const std::map<std::string, Archive>& corpus() {
  static const std::map<std::string, Archive> all = [] {
    std::map<std::string, Archive> by_target;
    for (auto& [path, bytes] : read_archive(TK_FUZZ_CORPUS))
      by_target[parent_path(path)][base_name(path)] = bytes;
    return by_target;
  }();
  return all;
}

void run(const Target& target, const Bytes& input, const std::string& which) {
  INFO(std::string(target.name) << ", " << which);
  LastWords::are(std::string(target.name) + ", " + which);
  // In memory of exactly this size, so that the sanitizer sees a byte too far.
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), exact.get());
  try {
    target.run(exact.get(), input.size());
  } catch (const std::exception& error) {
    FAIL_CHECK(std::string(error.what()));
  }
}

/// Damage to an input of the corpus, which it may be joined to another one for.
Bytes damaged(Random& random, const std::vector<const Bytes*>& inputs) {
  Bytes bytes = *inputs[random.below(inputs.size())];
  if (random.below(8) == 0) {
    const Bytes& other = *inputs[random.below(inputs.size())];
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1)), other.begin(),
                 other.end());
  }
  for (std::size_t left = 1 + random.below(4); left > 0 && !bytes.empty(); --left) {
    if (random.below(4) == 0) {
      mutate_header(random, bytes);
    } else {
      mutate(random, bytes);
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("every target has a corpus") {
  for (const Target& target : kTargets) {
    CAPTURE(target.name);
    CHECK(corpus().contains(target.name));
  }
  // (Without the server its targets are left out, and their inputs are not.)
  CHECK(corpus().size() >= std::size(kTargets));
}

TEST_CASE("the corpus, and random damage to it") {
  const char* const only = std::getenv("TK_FUZZ_TARGET");
  const std::uint64_t first = from_environment("TK_FUZZ_SEED", 1);
  const std::uint64_t rounds = from_environment("TK_FUZZ_ROUNDS", kRounds);
  for (const Target& target : kTargets) {
    if ((only != nullptr && std::string_view(only) != target.name) || !corpus().contains(target.name))
      continue;
    std::vector<const Bytes*> inputs;
    for (const auto& [name, bytes] : corpus().at(target.name)) {
      run(target, bytes, name);
      inputs.push_back(&bytes);
    }
    for (std::uint64_t seed = first; seed < first + rounds_of(target, rounds); ++seed) {
      Random random(seed);
      const std::string repeat = "TK_FUZZ_TARGET=" + std::string(target.name) +
                                 " TK_FUZZ_SEED=" + std::to_string(seed) + " TK_FUZZ_ROUNDS=1";
      run(target, damaged(random, inputs), repeat);
    }
  }
  LastWords::none();
}
