// Wrappers of magic 0 and 1 written anew, read back by the decoder that real brokers' files were held
// against.
#include "core/format/legacy_encode.h"

#include <doctest/doctest.h>

#include "core/format/legacy.h"

using namespace tk;

TEST_CASE("a wrapper with holes between its messages keeps offsets, keys, nulls and times") {
  struct Case {
    std::int8_t magic;
    Codec codec;
  };
  constexpr Case cases[] = {{0, Codec::gzip}, {0, Codec::snappy}, {0, Codec::lz4},
                            {1, Codec::gzip}, {1, Codec::snappy}, {1, Codec::lz4}};
  for (const Case& it : cases) {
    for (const bool append_time : {false, true}) {
      if (it.magic == 0 && append_time) continue;
      UnitInfo like;
      like.kind = UnitKind::legacy;
      like.magic = it.magic;
      like.attributes = static_cast<std::uint16_t>(it.codec);
      like.timestamp_type = append_time ? TimestampType::log_append_time : TimestampType::create_time;
      like.max_timestamp = 9000;
      LegacyWrapper wrapper(like);
      RecordView record;
      record.offset = Offset(100);
      record.timestamp = 7000;
      record.key = "a";
      record.value = "first";
      wrapper.add(record);
      record.offset = Offset(103);
      record.timestamp = 6000;
      record.key = std::nullopt;
      record.value = std::string_view();
      wrapper.add(record);
      record.offset = Offset(110);
      record.key = "gone";
      record.value = std::nullopt;
      wrapper.add(record);
      Compressor compressor;
      Buffer out;
      const UnitInfo written = wrapper.finish(compressor, out);
      CHECK(written.last_offset == Offset(110));
      REQUIRE(frame_unit(out.view(), out.size()).status == FrameStatus::whole);
      REQUIRE_FALSE(check_legacy(out.view()));
      UnitInfo info;
      REQUIRE_FALSE(read_legacy_info(out.view(), info));
      CHECK(info.max_timestamp == (it.magic == 0 ? kNoTimestamp : append_time ? 9000 : 7000));
      LegacyDecoder decoder;
      Decompressor decompressor;
      REQUIRE_FALSE(decoder.decode(out.view(), info, decompressor));
      REQUIRE(decoder.records().size() == 3);
      auto at = decoder.records().begin();
      CHECK(at->record.offset == Offset(100));
      CHECK(at->record.key == std::string_view("a"));
      CHECK(at->record.value == std::string_view("first"));
      CHECK(at->record.timestamp == (it.magic == 0 ? kNoTimestamp : append_time ? 9000 : 7000));
      ++at;
      CHECK(at->record.offset == Offset(103));
      CHECK_FALSE(at->record.key);
      CHECK(at->record.value == std::string_view());
      ++at;
      CHECK(at->record.offset == Offset(110));
      CHECK(at->record.key == std::string_view("gone"));
      CHECK_FALSE(at->record.value);
    }
  }
}
