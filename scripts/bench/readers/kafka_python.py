"""kafka-python at the work of a produce or a consume: kafka_python.py write LINES SEGMENT | read SEGMENT | check SEGMENT.

`check` sums the batches, too, with the library's own sum (in Python, unless a native module is installed)."""
import sys

from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords

what, source = sys.argv[1:3]
if what == "write":
    with open(source, "rb") as lines, open(sys.argv[3], "wb") as segment:
        builder = None
        count = 0
        for line in lines:
            value = line[:-1]
            if builder is None or builder.append(count, 1700000000000, None, value, []) is None:
                if builder is not None:
                    segment.write(builder.build())
                builder = DefaultRecordBatchBuilder(
                    magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=-1,
                    batch_size=16384)
                count = 0
                builder.append(count, 1700000000000, None, value, [])
            count += 1
        segment.write(builder.build())
else:
    with open(source, "rb") as segment:
        batches = MemoryRecords(segment.read())
    out = sys.stdout.buffer
    while batches.has_next():
        batch = batches.next_batch()
        if what == "check" and not batch.validate_crc():
            sys.exit("a batch with a bad checksum")
        for record in batch:
            out.write(record.value + b"\n")
