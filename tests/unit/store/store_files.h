// Files for the tests of the store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/io/file_system.h"

namespace tk::test {

inline void put(FileSystem& fs, const std::string& path, std::string_view content = "") {
  fs.make_directories(parent_path(path));
  const auto file = fs.open(path, OpenMode::create);
  file->truncate(0);
  file->write_at(0, as_bytes(content));
  file->sync();
  fs.sync_directory(parent_path(path));
}

inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// Batches of one record each, offsets 0 to 2, values a, b, c, timestamps 1700000000000 and up by 1, written
/// by an independent encoder.
inline std::string batch_a() {
  return from_hex(
      "0000000000000000000000390000000002965a94b10000000000000000018bcfe568000000018bcfe56800ffffffffffffff"
      "ffffffffffffff000000010e00000001026100");
}
inline std::string batch_b() {
  return from_hex(
      "0000000000000001000000390000000002dd4538ab0000000000000000018bcfe568010000018bcfe56801ffffffffffffff"
      "ffffffffffffff000000010e00000001026200");
}
inline std::string batch_c() {
  return from_hex(
      "00000000000000020000003900000000024eefad590000000000000000018bcfe568020000018bcfe56802ffffffffffffff"
      "ffffffffffffff000000010e00000001026300");
}
/// A transaction of producer 4005, offsets 0 and 1, and the marker at offset 2 that commits it.
inline std::string batch_transaction() {
  return from_hex(
      "0000000000000000000000430000000002310312700010000000010000018bcfe568000000018bcfe568000000000000000f"
      "a50012000000000000000210000000026b02610010000002026b026200");
}
inline std::string batch_commit() {
  return from_hex(
      "000000000000000200000042000000000240d40e160030000000000000018bcfe568010000018bcfe568010000000000000f"
      "a50012ffffffff000000012000000008000000010c00000000000700");
}
inline constexpr std::int64_t kT = 1700000000000;

/// Two plain json records, offsets 0 and 1, with body {}.
inline std::string json_records() {
  return from_hex("0000000000000000000000027b7d0000000000000001000000027b7d");
}

inline const std::string kSegment = "00000000000000000000.log";

/// The entries of a directory that are directories, with a blank behind each.
inline std::string directories(FileSystem& fs, const std::string& path) {
  std::string names;
  for (const DirEntry& entry : fs.list(path)) {
    if (entry.is_directory) names += entry.name + " ";
  }
  return names;
}

}  // namespace tk::test
