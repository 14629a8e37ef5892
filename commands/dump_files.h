// The files of `tk dump-log` that hold no batches: transaction indexes, producer snapshots, checkpoints and
// the other small files of a broker (kafka-on-disk.md §1.2, §5.4, §6.2, §7, §15.2).
#pragma once

#include <string>

#include "commands/context.h"
#include "commands/dump_kind.h"
#include "commands/dump_style.h"

namespace tk {

/// Where a file is read from, and how lines and objects name it.
struct DumpSource {
  std::string name;
  std::string opens;
};

/// Entries as the tool prints them; an entry of an unknown version is damage, and so is a part of one at the
/// end.
void dump_txn_index(const DumpSource& source, const DumpStyle& style, Context& context);

/// Producers in the file's order. A file that a broker would throw away is damage, of which nothing is shown.
void dump_producer_snapshot(const DumpSource& source, const DumpStyle& style, Context& context);

/// A text file: as text its lines go to stderr, as the tool says nothing of them but "Ignoring unknown file";
/// as JSON it is an object an entry, or one for the file. What a broker could not read is damage.
void dump_text_file(DumpKind kind, const DumpSource& source, const DumpStyle& style, Context& context);

}  // namespace tk
