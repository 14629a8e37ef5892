#include "core/log/log_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/log/segment_names.h"
#include "core/log/tail_scan.h"

namespace tk {
namespace {

OtherFile::Kind kind_of_other(std::string_view suffix) {
  if (suffix.ends_with(kCleanedSuffix)) return OtherFile::Kind::cleaned;
  if (suffix.ends_with(kSwapSuffix)) return OtherFile::Kind::swap;
  if (suffix.ends_with(kDeletedSuffix)) return OtherFile::Kind::deleted;
  return OtherFile::Kind::foreign;
}

/// The files of one number.
struct Named {
  bool log = false, index = false, time_index = false, txn_index = false, swap = false;
};

struct Listing {
  PartitionFiles files;
  std::map<Offset, Named> named;
  std::optional<Offset> least_cleaned;
};

void sort_in(Listing& listing, const DirEntry& entry) {
  PartitionFiles& files = listing.files;
  const auto name = parse_segment_file_name(entry.name);
  auto other = [&](OtherFile::Kind kind) { files.others.push_back({kind, entry.name, entry.is_directory}); };
  if (entry.is_directory) return other(OtherFile::Kind::foreign);
  if (!name) {
    if (entry.name == kLeaderEpochFile) {
      files.has_leader_epochs = true;
    } else if (entry.name == kPartitionMetadataFile) {
      files.has_metadata = true;
    } else if (entry.name.ends_with(".tmp")) {
      other(OtherFile::Kind::temporary);
    } else if (entry.name != kPartitionLockFile && entry.name.find(".log.cut-") == std::string::npos &&
               entry.name != "quorum-state" && !entry.name.ends_with(".checkpoint")) {
      other(OtherFile::Kind::foreign);
    }
    return;
  }
  if (name->suffix == kLogSuffix) {
    listing.named[name->base].log = true;
  } else if (name->suffix == kIndexSuffix) {
    listing.named[name->base].index = true;
  } else if (name->suffix == kTimeIndexSuffix) {
    listing.named[name->base].time_index = true;
  } else if (name->suffix == kTxnIndexSuffix) {
    listing.named[name->base].txn_index = true;
  } else if (name->suffix == kSnapshotSuffix) {
    files.snapshots.push_back(name->base);
  } else if (name->suffix.starts_with(".log.cut-")) {
    files.has_cuts = true;
  } else {
    const OtherFile::Kind kind = kind_of_other(name->suffix);
    other(kind);
    if (kind == OtherFile::Kind::cleaned && (!listing.least_cleaned || name->base < *listing.least_cleaned)) {
      listing.least_cleaned = name->base;
    }
    if (kind == OtherFile::Kind::swap && name->suffix == ".log.swap") listing.named[name->base].swap = true;
  }
}

SegmentFile segment_at(FileSystem& fs, const std::string& directory, Offset base, const Named& named,
                       std::string_view suffix) {
  SegmentFile segment;
  segment.base = base;
  segment.log_path = join_path(directory, segment_file_name(base, suffix));
  if (const auto stat = fs.stat(segment.log_path)) {
    segment.size = stat->size;
    segment.mtime_ms = stat->mtime_ms;
    segment.device = stat->device;
    segment.inode = stat->inode;
  }
  const bool own_indexes = suffix == kLogSuffix;
  segment.has_index = own_indexes && named.index;
  segment.has_time_index = own_indexes && named.time_index;
  segment.has_txn_index = own_indexes && named.txn_index;
  return segment;
}

// Finished swap files replace every segment whose number lies in their range (§9.1 step 2). One that is not
// whole replaces nothing while the originals are there: reading them is right, and repair may decide
// otherwise.
void settle_swaps(FileSystem& fs, Listing& listing) {
  PartitionFiles& files = listing.files;
  std::vector<SegmentFile> swaps;
  std::optional<Offset> end;
  for (const auto& [base, named] : listing.named) {
    if (!named.swap) continue;
    if (listing.least_cleaned && base >= *listing.least_cleaned) {
      files.pending = "an unfinished compaction: its .cleaned and .swap files are ignored";
      continue;
    }
    SegmentFile swap = segment_at(fs, files.directory, base, named, ".log.swap");
    const TailScan scan = scan_to_end(
        fs, swap, {.position = 0, .end = 0, .segment_base = base, .after = base - 1, .below = {}});
    const bool originals =
        std::any_of(files.segments.begin(), files.segments.end(), [&](const SegmentFile& s) {
          return s.base >= swap.base && s.base < std::max(scan.next_offset, swap.base + 1);
        });
    if (scan.stop != TailScan::Stop::clean && originals) {
      files.pending =
          fmt::format("{} is not whole: the segments it was to replace are read", base_name(swap.log_path));
      return;
    }
    end = std::max(end.value_or(scan.next_offset), scan.next_offset);
    swaps.push_back(std::move(swap));
  }
  if (swaps.empty()) return;
  const Offset begin = swaps.front().base;
  std::erase_if(files.segments, [&](const SegmentFile& s) { return s.base >= begin && s.base < *end; });
  files.segments.insert(files.segments.end(), swaps.begin(), swaps.end());
  std::sort(files.segments.begin(), files.segments.end(),
            [](const SegmentFile& a, const SegmentFile& b) { return a.base < b.base; });
  files.pending =
      "a finished replacement whose files still have .swap names: they are read in place of the originals";
}

}  // namespace

std::string SegmentFile::beside(std::string_view suffix) const {
  return join_path(parent_path(log_path), segment_file_name(base, suffix));
}

namespace {

PartitionFiles list_once(FileSystem& fs, const std::string& directory) {
  Listing listing;
  listing.files.directory = directory;
  for (const DirEntry& entry : fs.list(directory)) sort_in(listing, entry);
  bool swaps = false;
  for (const auto& [base, named] : listing.named) {
    swaps |= named.swap;
    if (named.log) {
      listing.files.segments.push_back(segment_at(fs, directory, base, named, kLogSuffix));
      continue;
    }
    const std::pair<bool, std::string_view> orphans[] = {{named.index, kIndexSuffix},
                                                         {named.time_index, kTimeIndexSuffix},
                                                         {named.txn_index, kTxnIndexSuffix}};
    for (const auto& [there, suffix] : orphans) {
      if (there)
        listing.files.others.push_back({OtherFile::Kind::orphan, segment_file_name(base, suffix), false});
    }
  }
  std::sort(listing.files.snapshots.begin(), listing.files.snapshots.end());
  if (swaps) settle_swaps(fs, listing);
  return std::move(listing.files);
}

}  // namespace

// Between the listing and the look into a swap file it may get its final name.
PartitionFiles list_partition(FileSystem& fs, const std::string& directory) {
  constexpr int tries = 20;
  for (int i = 0;; ++i) {
    try {
      return list_once(fs, directory);
    } catch (const Error& error) {
      if (i >= tries || !error.path().ends_with(kSwapSuffix) || fs.stat(error.path())) throw;
    }
  }
}

}  // namespace tk
