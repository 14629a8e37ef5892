// `produce -i dump`: a partition from what `dump-log --json --print-data-log` prints, edited or not (cli.md
// §3).
#pragma once

namespace tk {

class Store;
struct Context;
struct ProduceOptions;

/// Appends the batches and records of the input to a new, empty partition (TOPIC-P), with their offsets,
/// gaps, epochs, producer fields, codecs, timestamps, control records and batch borders. Returns the exit
/// code.
int import_dump(Store& store, const ProduceOptions& options, Context& context);

}  // namespace tk
