// Units of the field cases: small batches, messages and records whose bytes an independent encoder made, with
// T = 1700000000000 ms as their time. Base offsets lie outside Kafka's checksums, so a test may move one of
// them.
#pragma once

#include <cstdint>
#include <string_view>

namespace tk::test::vectors {

inline constexpr std::int64_t kT = 1700000000000;

/// 34 bytes: magic 0, offset 0, key null, value message1, CRC-32 3916773564 (public hexdump).
inline constexpr std::string_view kG1 =
    "000000000000000000000016e97538bc0000ffffffff000000086d65737361676531";
/// 83 bytes: magic 2 control batch, KRaft snapshot header, size 83, CRC-32C 3406426388 (public dump output).
inline constexpr std::string_view kG2 =
    "0000000000000000000000470000000002cb09f11400200000000000000180ff31c30d00000180ff31c30dffffffffff"
    "ffffffffffffffffff000000012a000000080000000316000000000000000027100000";
/// 69 bytes: magic 2, offset 0, key null, value a, timestamp T+0.
inline constexpr std::string_view kA =
    "0000000000000000000000390000000002965a94b10000000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff000000010e00000001026100";
/// 69 bytes: magic 2, offset 1, key null, value b, timestamp T+1.
inline constexpr std::string_view kB =
    "0000000000000001000000390000000002dd4538ab0000000000000000018bcfe568010000018bcfe56801ffffffffff"
    "ffffffffffffffffff000000010e00000001026200";
/// 69 bytes: magic 2, offset 2, key null, value c, timestamp T+2.
inline constexpr std::string_view kC =
    "00000000000000020000003900000000024eefad590000000000000000018bcfe568020000018bcfe56802ffffffffff"
    "ffffffffffffffffff000000010e00000001026300";
/// 91 bytes: 4 records: (empty,empty) (null,null) (k,empty) (k,null).
inline constexpr std::string_view kN =
    "00000000000000000000004f000000000200415a3c0000000000030000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff000000040c0000000000000c0000020101000e000004026b00000e000006026b0100";
/// 84 bytes: one record, headers in order a=1, a=2, n=null, e=empty.
inline constexpr std::string_view kH =
    "0000000000000000000000480000000002771298240000000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff000000012c000000026b0276080261023102610232026e01026500";
/// 79 bytes: transactional data, producer 4005 epoch 18, sequences 0-1, offsets 0-1.
inline constexpr std::string_view kTX =
    "0000000000000000000000430000000002310312700010000000010000018bcfe568000000018bcfe568000000000000"
    "000fa50012000000000000000210000000026b02610010000002026b026200";
/// 78 bytes: COMMIT marker at offset 2, coordinator epoch 7.
inline constexpr std::string_view kCM =
    "000000000000000200000042000000000240d40e160030000000000000018bcfe568010000018bcfe568010000000000"
    "000fa50012ffffffff000000012000000008000000010c00000000000700";
/// 78 bytes: ABORT marker at offset 2, coordinator epoch 7.
inline constexpr std::string_view kAB =
    "0000000000000002000000420000000002b4ead85e0030000000000000018bcfe568010000018bcfe568010000000000"
    "000fa50012ffffffff000000012000000008000000000c00000000000700";
/// 61 bytes: batch emptied by the cleaner: offsets 5-9, 0 records.
inline constexpr std::string_view kE =
    "00000000000000050000003100000000024e13c16b0000000000040000018bcfe568000000018bcfe568000000000000"
    "0003e800000000000500000000";
/// 70 bytes: offsets 10-14, only offset 10 survives.
inline constexpr std::string_view kTH =
    "000000000000000a0000003a0000000002db61c4670000000000040000018bcfe568000000018bcfe568000000000000"
    "0003e80000000000000000000110000000026b027600";
/// 75 bytes: snappy, raw block: value hello.
inline constexpr std::string_view kS1 =
    "00000000000000000000003f0000000002a00c8ddb0002000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff000000010c2c16000000010a68656c6c6f00";
/// 95 bytes: snappy, xerial framing (big-endian header): value hello.
inline constexpr std::string_view kS2 =
    "0000000000000000000000530000000002f9ce1f580002000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff0000000182534e415050590000000001000000010000000e0c2c16000000010a68656c6c6f00";
/// 95 bytes: same, version words little-endian.
inline constexpr std::string_view kS3 =
    "0000000000000000000000530000000002449dc93c0002000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff0000000182534e415050590001000000010000000000000e0c2c16000000010a68656c6c6f00";
/// 101 bytes: same, payload split in two chunks.
inline constexpr std::string_view kS4 =
    "000000000000000000000059000000000238b9903d0002000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff0000000182534e4150505900000000010000000100000008061416000000010a00000008061468"
    "656c6c6f00";
/// 72 bytes: magic 0 LZ4 wrapper, historic header checksum 0x1a: value hello.
inline constexpr std::string_view kL1 =
    "00000000000000000000003cb9cedf460003ffffffff0000002e04224d1860401a1f0000800000000000000000000000"
    "1387a77ab20000ffffffff0000000568656c6c6f00000000";
/// 72 bytes: magic 0 LZ4 wrapper, correct header checksum 0x82: value hello.
inline constexpr std::string_view kL2 =
    "00000000000000000000003cfda65bb30003ffffffff0000002e04224d186040821f0000800000000000000000000000"
    "1387a77ab20000ffffffff0000000568656c6c6f00000000";
/// 88 bytes: magic 2 LZ4: value hello.
inline constexpr std::string_view kL3 =
    "00000000000000000000004c00000000029472652b0003000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff0000000104224d186040820c00008016000000010a68656c6c6f0000000000";
/// 92 bytes: magic 2 LZ4, batch CRC good, frame content checksum wrong.
inline constexpr std::string_view kL4 =
    "00000000000000000000005000000000021eb9f2370003000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff0000000104224d186440a70c00008016000000010a68656c6c6f0000000000157701a6";
/// 88 bytes: magic 2 LZ4 with the historic header checksum.
inline constexpr std::string_view kL5 =
    "00000000000000000000004c0000000002b5d194350003000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff0000000104224d1860401a0c00008016000000010a68656c6c6f0000000000";
/// 115 bytes: magic 1 gzip wrapper at 104, inner relative 0,2,4.
inline constexpr std::string_view kW1 =
    "000000000000006800000067835bb27801010000018bcfe56804ffffffff000000511f8b08000000000002ff63608003"
    "a99255810e8c400663f7f9a7192011a66c031059660055c10452959b3e850fae8a09acca08acca08aa8a05a4caddf0f6"
    "1db82a16b02a13b02a1300afc3904d72000000";
/// 93 bytes: magic 0 gzip wrapper at 104, inner absolute 100,102,104.
inline constexpr std::string_view kW0 =
    "0000000000000068000000516057139d0001ffffffff000000431f8b08000000000002ff63600083142016322a9ea0cf"
    "c0f01f08803c96324303038824431a48f64eed4766145923a86c0648d6542ec40c45d604004b6453aa5a000000";
/// 69 bytes: offset 1, timestamp given in microseconds (year 55840).
inline constexpr std::string_view kF =
    "00000000000000010000003900000000029958a48200000000000000060a24181e400000060a24181e4000ffffffffff"
    "ffffffffffffffffff000000010e00000001026600";
/// 87 bytes: 3 records, timestamps T+100, T+50, T+200.
inline constexpr std::string_view kO =
    "00000000000000000000004b0000000002668387cd0000000000020000018bcfe568000000018bcfe568c8ffffffffff"
    "ffffffffffffffffff000000031000c80100010278000e00640201027900100090030401027a00";
/// 96 bytes: value holds a newline and a forged dump line.
inline constexpr std::string_view kP =
    "0000000000000000000000540000000002aaf976a10000000000000000018bcfe568000000018bcfe56800ffffffffff"
    "ffffffffffffffffff00000001440000000138780a7c206f66667365743a203939207061796c6f61643a2066616b6500";
/// 28 bytes: teaching format, two records with body {} at offsets 0 and 1.
inline constexpr std::string_view kJ = "0000000000000000000000027b7d0000000000000001000000027b7d";

}  // namespace tk::test::vectors
