// Random damage to bytes: what disks, crashes and careless copies do, and what a fuzzer tries.
#pragma once

#include <algorithm>
#include <string>

#include "core/base/crc.h"
#include "core/format/unit.h"
#include "tests/support/bytes.h"

namespace tk::test {

/// Damages that happen to a stored file.
enum class Mutation : std::uint8_t { flip, cut, zeros, duplicate, swap, junk, remove, insert, count };

inline std::string_view mutation_name(Mutation mutation) {
  constexpr std::string_view names[] = {"flip", "cut",  "zeros",  "duplicate",
                                        "swap", "junk", "remove", "insert"};
  return names[static_cast<std::size_t>(mutation)];
}

struct Mutated {
  Mutation kind = Mutation::flip;
  std::size_t position = 0;
  std::size_t size = 0;
};

/// Does one random damage to `bytes`, which are not empty.
inline Mutated mutate(Random& random, Bytes& bytes) {
  constexpr std::size_t kSizes[] = {1, 2, 4, 8, 12, 17, 61, 200, 512, 4096};
  Mutated done;
  done.kind = static_cast<Mutation>(random.below(static_cast<std::size_t>(Mutation::count)));
  done.position = random.below(bytes.size());
  const std::size_t wanted =
      random.below(3) == 0 ? 1 + random.below(bytes.size()) : kSizes[random.below(std::size(kSizes))];
  done.size = std::min(wanted, bytes.size() - done.position);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(done.position);
  const auto end = begin + static_cast<std::ptrdiff_t>(done.size);
  switch (done.kind) {
    case Mutation::flip:
      done.size = 1;
      *begin = static_cast<std::uint8_t>(*begin ^ (1U << random.below(8)));
      break;
    case Mutation::cut:
      bytes.resize(done.position);
      break;
    case Mutation::zeros:
      std::fill(begin, end, std::uint8_t{0});
      break;
    case Mutation::duplicate: {
      const Bytes range(begin, end);
      bytes.insert(end, range.begin(), range.end());
      break;
    }
    case Mutation::swap: {
      // Two ranges of the same size change places; those that would overlap are turned round.
      const std::size_t other = random.below(bytes.size() - done.size + 1);
      if (other + done.size <= done.position || done.position + done.size <= other) {
        std::swap_ranges(begin, end, bytes.begin() + static_cast<std::ptrdiff_t>(other));
      } else {
        std::reverse(begin, end);
      }
      break;
    }
    case Mutation::junk:
      std::generate(begin, end, [&] { return static_cast<std::uint8_t>(random.next()); });
      break;
    case Mutation::remove:
      bytes.erase(begin, end);
      break;
    default: {
      const Bytes junk = random.bytes(std::min<std::size_t>(done.size, 600));
      bytes.insert(begin, junk.begin(), junk.end());
      break;
    }
  }
  return done;
}

/// Alters a number in the header of a random unit, if there is one, and puts Kafka's checksum right: damage
/// that no checksum tells. Only for what need not come back as it was.
inline void mutate_header(Random& random, Bytes& bytes) {
  std::vector<std::pair<std::size_t, Frame>> units;
  for (std::size_t at = 0; at < bytes.size();) {
    const ByteView rest = ByteView(bytes).subspan(at);
    const Frame frame = frame_unit(rest, rest.size());
    if (frame.status != FrameStatus::whole) break;
    units.emplace_back(at, frame);
    at += frame.size;
  }
  if (units.empty()) return;
  const auto [at, frame] = units[random.below(units.size())];
  const MutableBytes unit = MutableBytes(bytes).subspan(at, frame.size);
  constexpr std::int64_t kEdges[] = {0,         1,         -1,        2,         7,        127,
                                     INT16_MAX, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  const std::size_t field = random.below(std::min<std::size_t>(unit.size() - 8, 60));
  const std::int64_t edge = kEdges[random.below(std::size(kEdges))];
  switch (random.below(3)) {
    case 0:
      unit[field] = static_cast<std::uint8_t>(edge);
      break;
    case 1:
      store_be<std::int32_t>(unit.data() + field, static_cast<std::int32_t>(edge));
      break;
    default:
      store_be<std::int64_t>(unit.data() + field, edge);
      break;
  }
  if (frame.kind == UnitKind::batch)
    store_be<std::uint32_t>(unit.data() + 17, crc32c(ByteView(unit).subspan(21)));
  if (frame.kind == UnitKind::legacy)
    store_be<std::uint32_t>(unit.data() + 12, crc32(ByteView(unit).subspan(16)));
}

}  // namespace tk::test
