// A strict JSON reader (RFC 8259) for the data path: no tree, no allocation per value, every byte checked
// once.
//
// It serves two places where speed counts and the input is hostile: the bodies of json records in any member
// order, and `produce -i json`. State files are small and use nlohmann_json instead. Unlike a scanner that
// only finds the ends of values it validates everything it passes over, UTF-8 and escapes included, so what
// it accepts is JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tk {

enum class JsonType : std::uint8_t { object, array, string, number, boolean, null, invalid };

/// Pull reader over one text. The first mistake latches: `ok()` is false, `error()` says what and
/// `position()` where, and every further call gives nothing. Nesting deeper than 512 is a mistake.
///
///     JsonReader reader(text);
///     reader.enter_object();
///     while (reader.next_member(name)) { if (name == "ts") ts = reader.integer(); else reader.skip(); }
///     reader.finish();
class JsonReader {
 public:
  explicit JsonReader(std::string_view text);

  [[nodiscard]] bool ok() const { return error_ == nullptr; }
  /// What is wrong, a literal; null while all is well.
  [[nodiscard]] const char* error() const { return error_; }
  /// Byte position of the next unread byte, or of the mistake.
  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }

  /// The type of the value that comes next (blanks skipped).
  JsonType peek();

  /// Passes `{`; a mistake if the next value is no object.
  bool enter_object();
  /// Passes to the next member of the object entered last and gives its name (decoded; valid until the next
  /// call); false, having passed `}`, when there is none.
  bool next_member(std::string_view& name);
  /// Passes `[`; a mistake if the next value is no array.
  bool enter_array();
  /// Passes to the next element; false, having passed `]`, when there is none.
  bool next_element();

  /// A string's decoded bytes. Points into the text if it has no escapes, else into `scratch` (appended to,
  /// so that several strings may share one; reserve beforehand or use one scratch per string). Lone surrogate
  /// escapes are a mistake: they have no UTF-8 form.
  std::string_view string(std::string& scratch);
  /// A whole number in int64; a mistake if it is none (fractions and exponents included).
  std::int64_t integer();
  bool boolean();
  /// Passes `null` and is true, or is false if something else comes next.
  bool null();
  /// Passes any value and gives its text as it stands, without the blanks around it.
  std::string_view skip();

  /// True if all is well and only blanks are left.
  bool finish();

 private:
  /// Notes the mistake unless there was one before; always false.
  bool fail(const char* error);
  void blanks();
  JsonType look();
  bool enter(JsonType type, const char* error);
  /// Passes the comma before the next member or element; false, having passed `closing`, when there is none.
  bool next(char closing, const char* error);
  bool literal(std::string_view word);
  void pass_value();
  void pass_number();
  /// The string whose quote is next; without `scratch` it is only checked, and what is returned means
  /// nothing.
  std::string_view quoted(std::string* scratch);
  /// Passes a string's bytes from its first escape to its closing quote.
  bool pass_escaped();

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* error_ = nullptr;
  int depth_ = 0;
  bool first_ = false;  // no member or element of the innermost container was passed yet
  std::string name_;    // holds a member name that has escapes
};

}  // namespace tk
