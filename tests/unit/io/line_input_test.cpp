#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <thread>

#include "core/base/clock.h"
#include "core/io/line_input.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/io/temp_directory.h"

using namespace tk;
using tk::test::caught;
using tk::test::TempDirectory;

namespace {

class Pipe {
 public:
  Pipe() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    read_end_ = Descriptor(ends[0]);
    write_end_ = Descriptor(ends[1]);
  }
  [[nodiscard]] int reading() const { return read_end_.get(); }
  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t put = ::write(write_end_.get(), text.data(), text.size());
      if (put <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  void end() { write_end_ = Descriptor(); }

 private:
  Descriptor read_end_;
  Descriptor write_end_;
};

std::string text_of(const InputChunk& chunk) {
  return std::string(as_text(chunk.bytes()));
}

// Records by the simplest means there is; `rest` becomes true if the last one has no delimiter.
std::vector<std::string> split(std::string_view text, std::string_view delimiter, bool* rest = nullptr) {
  std::vector<std::string> records;
  while (!text.empty()) {
    const std::size_t end = text.find(delimiter);
    records.emplace_back(text.substr(0, end));
    if (rest != nullptr) *rest = end == std::string_view::npos;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + delimiter.size());
  }
  return records;
}

struct Reading {
  std::vector<std::string> records;
  bool unterminated = false;
  std::size_t chunks = 0;
  std::size_t largest_chunk = 0;
};

// Reads all, and checks what holds for every chunk.
Reading read_all(ChunkReader& reader, std::string_view delimiter) {
  Reading all;
  InputChunk chunk;
  std::uint64_t position = 0;
  for (;;) {
    const Got got = reader.next(chunk, 50);
    if (got == Got::pause) continue;
    if (got == Got::end) break;
    REQUIRE_FALSE(all.unterminated);
    REQUIRE_FALSE(chunk.bytes().empty());
    REQUIRE(chunk.position() == position);
    position += chunk.bytes().size();
    bool rest = false;
    for (auto& record : split(as_text(chunk.bytes()), delimiter, &rest)) {
      all.records.push_back(std::move(record));
    }
    REQUIRE(chunk.unterminated() == rest);
    all.unterminated = chunk.unterminated();
    all.largest_chunk = std::max(all.largest_chunk, chunk.bytes().size());
    ++all.chunks;
  }
  REQUIRE(reader.next(chunk, 0) == Got::end);
  REQUIRE(chunk.bytes().empty());
  return all;
}

// Text of records of random length with the delimiter's own bytes in them.
std::string random_text(std::mt19937& random, std::string_view delimiter, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    const auto draw = random() % 10;
    if (draw < 2) {
      text += delimiter;
    } else if (draw < 5) {
      text += delimiter[random() % delimiter.size()];
    } else {
      text.append(random() % 12, static_cast<char>('a' + random() % 3));
    }
  }
  return text;
}

}  // namespace

TEST_CASE("input: all delimiters, split at every kind of border") {
  std::mt19937 random(7);
  for (const std::string delimiter : {"\n", "\r\n", "ab", "aa", "aba", "||--||", "aabaa"}) {
    for (const std::size_t chunk_size : {1, 2, 7, 64, 4096}) {
      CAPTURE(delimiter);
      CAPTURE(chunk_size);
      const std::string text = random_text(random, delimiter, 3000);
      Pipe pipe;
      std::thread writer([&, seed = random()] {
        std::mt19937 sizes(seed);
        for (std::size_t at = 0; at < text.size();) {
          const std::size_t count = std::min<std::size_t>(1 + sizes() % 200, text.size() - at);
          pipe.send(std::string_view(text).substr(at, count));
          at += count;
        }
        pipe.end();
      });
      ChunkReader reader(pipe.reading(), "standard input", {delimiter, chunk_size, SIZE_MAX, 0});
      const Reading all = read_all(reader, delimiter);
      writer.join();
      const auto expected = split(text, delimiter);
      CHECK((all.records == expected));
    }
  }
}

TEST_CASE("input: the end") {
  Pipe pipe;
  SUBCASE("of an empty input") {
    pipe.end();
    ChunkReader reader(pipe.reading(), "standard input");
    CHECK(read_all(reader, "\n").chunks == 0);
  }
  SUBCASE("with a delimiter") {
    pipe.send("a\nb\n");
    pipe.end();
    ChunkReader reader(pipe.reading(), "standard input");
    const Reading all = read_all(reader, "\n");
    CHECK(all.records == std::vector<std::string>{"a", "b"});
    CHECK_FALSE(all.unterminated);
  }
  SUBCASE("without one") {
    pipe.send("a\nb\nc");
    pipe.end();
    ChunkReader reader(pipe.reading(), "standard input");
    const Reading all = read_all(reader, "\n");
    CHECK(all.records == std::vector<std::string>{"a", "b", "c"});
    CHECK(all.unterminated);
  }
  SUBCASE("in the middle of a delimiter") {
    pipe.send("a\r\nb\r");
    pipe.end();
    ChunkReader reader(pipe.reading(), "standard input", {.delimiter = "\r\n"});
    const Reading all = read_all(reader, "\r\n");
    CHECK(all.records == std::vector<std::string>{"a", "b\r"});
    CHECK(all.unterminated);
  }
}

TEST_CASE("input: a NUL as delimiter, and none at all") {
  const std::string text("a\0b\nc\0", 6);
  Pipe pipe;
  pipe.send(text);
  pipe.end();
  InputChunk chunk;
  SUBCASE("NUL") {
    ChunkReader reader(pipe.reading(), "standard input", {.delimiter = std::string(1, '\0')});
    REQUIRE(reader.next(chunk) == Got::chunk);
    CHECK(text_of(chunk) == text);
    CHECK_FALSE(chunk.unterminated());
  }
  SUBCASE("none: all of the input is one record") {
    ChunkReader reader(pipe.reading(), "standard input", {.delimiter = "", .chunk_size = 2});
    REQUIRE(reader.next(chunk) == Got::chunk);
    CHECK(text_of(chunk) == text);
    CHECK(chunk.unterminated());
  }
  ChunkReader after(pipe.reading(), "standard input");
  CHECK(after.next(chunk) == Got::end);
}

TEST_CASE("input: a regular file comes in large chunks") {
  const TempDirectory dir;
  std::string text;
  for (int i = 0; text.size() < 5000000; ++i) text += "line " + std::to_string(i) + "\n";
  std::ofstream(dir / "f", std::ios::binary) << text << "last";
  const Descriptor file = open_input(dir / "f");
  ChunkReader reader(file.get(), dir / "f");
  const Reading all = read_all(reader, "\n");
  CHECK((all.records == split(text + "last", "\n")));
  CHECK(all.unterminated);
  CHECK(all.chunks <= 7);
  CHECK(all.largest_chunk <= 1U << 20);
  CHECK(caught([&] { open_input(dir / "none"); })->message() == "cannot open: No such file or directory");
}

TEST_CASE("input: pauses") {
  Pipe pipe;
  ChunkReader reader(pipe.reading(), "standard input", {.linger_ms = 30});
  InputChunk chunk;
  CHECK(reader.next(chunk, 0) == Got::pause);
  pipe.send("begun");
  const std::int64_t before = monotonic_ms();
  CHECK(reader.next(chunk, 20) == Got::pause);
  CHECK(monotonic_ms() - before >= 20);
  CHECK(chunk.bytes().empty());
  CHECK(reader.next(chunk, 0) == Got::pause);

  pipe.send(" line\nnext");
  const std::int64_t complete = monotonic_ms();
  REQUIRE(reader.next(chunk, 0) == Got::chunk);
  CHECK(monotonic_ms() - complete >= 30);
  CHECK(text_of(chunk) == "begun line\n");
  CHECK(chunk.input_paused());
  CHECK(chunk.position() == 0);

  // A trickle that never stops does not prolong the linger.
  std::atomic<bool> enough = false;
  std::thread trickle([&] {
    for (int i = 0; i < 10000 && !enough; ++i) {
      pipe.send("x\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    pipe.end();
  });
  REQUIRE(reader.next(chunk) == Got::chunk);
  enough = true;
  CHECK(text_of(chunk).starts_with("nextx\n"));
  CHECK(chunk.input_paused());
  CHECK(chunk.position() == 11);
  trickle.join();
}

TEST_CASE("input: lines that come within the linger are handed out together") {
  Pipe pipe;
  ChunkReader reader(pipe.reading(), "standard input", {.linger_ms = 60000});
  std::thread writer([&] {
    pipe.send("a\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pipe.send("b\nc\n");
    pipe.end();
  });
  InputChunk chunk;
  REQUIRE(reader.next(chunk, 0) != Got::end);
  while (chunk.bytes().empty()) REQUIRE(reader.next(chunk) == Got::chunk);
  CHECK(text_of(chunk) == "a\nb\nc\n");
  CHECK_FALSE(chunk.input_paused());
  writer.join();
}

TEST_CASE("input: a huge begun record survives pauses") {
  Pipe pipe;
  ChunkReader reader(pipe.reading(), "standard input", {.chunk_size = 1000});
  InputChunk chunk;
  std::string record;
  for (int part = 0; part < 50; ++part) {
    const std::string more(3000, static_cast<char>('a' + part % 26));
    pipe.send(more);
    record += more;
    REQUIRE(reader.next(chunk, 0) == Got::pause);
  }
  pipe.send("\nsmall\n");
  std::string all;
  while (all.size() < record.size() + 7) {
    REQUIRE(reader.next(chunk) == Got::chunk);
    all += text_of(chunk);
  }
  CHECK((all == record + "\nsmall\n"));
  pipe.send(std::string(500, '\n') + std::string(700, '\n'));
  pipe.end();
  std::size_t rest = 0;
  while (reader.next(chunk) == Got::chunk) {
    CHECK(chunk.bytes().size() <= 1000);
    rest += chunk.bytes().size();
  }
  CHECK(rest == 1200);
}

TEST_CASE("input: a record that is too long ends the reading, with its position") {
  Pipe pipe;
  ChunkReader reader(pipe.reading(), "standard input",
                     {.delimiter = "\r\n", .chunk_size = 64, .max_record = 1000});
  InputChunk chunk;
  SUBCASE("the longest that may be") {
    pipe.send(std::string(1000, 'x') + "\r");
    CHECK(reader.next(chunk, 0) == Got::pause);
    pipe.send("\n");
    REQUIRE(reader.next(chunk, 0) == Got::chunk);
    CHECK(chunk.bytes().size() == 1002);
  }
  SUBCASE("one more") {
    pipe.send("ok\r\n" + std::string(50000, 'x'));
    std::optional<Error> error;
    std::string before;
    while (!error) {
      error = caught([&] {
        if (reader.next(chunk, 0) == Got::chunk) before += text_of(chunk);
      });
    }
    CHECK(before == "ok\r\n");
    CHECK(error->code() == ErrorCode::message_too_large);
    CHECK(error->message() == "a record of the input is longer than 1000 bytes");
    CHECK(error->path() == "standard input");
    CHECK(error->position() == 4);
    CHECK(chunk.bytes().size() < 1200);
    CHECK(reader.next(chunk) == Got::end);
  }
}

TEST_CASE("input: a non-blocking pipe, and a signal during a wait") {
  Pipe pipe;
  REQUIRE(::fcntl(pipe.reading(), F_SETFL, O_NONBLOCK) == 0);
  ChunkReader reader(pipe.reading(), "standard input");
  InputChunk chunk;
  CHECK(reader.next(chunk, 10) == Got::pause);

  struct sigaction quiet {};
  struct sigaction before {};
  quiet.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &quiet, &before);
  const pthread_t self = ::pthread_self();
  std::thread signalling([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ::pthread_kill(self, SIGUSR1);
  });
  CHECK(reader.next(chunk, 60000) == Got::pause);
  signalling.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  pipe.send("x\n");
  CHECK(reader.next(chunk) == Got::chunk);
}

TEST_CASE("input: what cannot be read") {
  const Descriptor directory = open_input("/");
  ChunkReader reader(directory.get(), "/");
  InputChunk chunk;
  CHECK(caught([&] { reader.next(chunk); })->message() == "cannot read: Is a directory");

  const Descriptor wrong(::open("/dev/null", O_WRONLY));
  ChunkReader closed(wrong.get(), "standard input");
  const auto error = caught([&] { closed.next(chunk); });
  REQUIRE(error);
  CHECK(error->message() == "cannot read: standard input is closed");
  CHECK_FALSE(error->hint().empty());
  CHECK(caught([] { ChunkReader(-1, "standard input"); })->message() ==
        "cannot read: standard input is closed");
}
