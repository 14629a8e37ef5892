#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/io/descriptor.h"
#include "core/io/output.h"
#include "core/io/standard_descriptors.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;

namespace {

struct Pipe {
  Pipe() {
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }
  Descriptor read_end;
  Descriptor write_end;
};

std::string read_all(int descriptor) {
  std::string all;
  char part[5000];
  for (;;) {
    const ssize_t got = ::read(descriptor, part, sizeof part);
    if (got <= 0) return all;
    all.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace

TEST_CASE("output: small texts and large blocks arrive in order") {
  Pipe pipe;
  std::string expected;
  std::string got;
  std::thread reader([&] { got = read_all(pipe.read_end.get()); });
  {
    OutputStream out(pipe.write_end.get());
    const std::string block(3000000, 'B');
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20000; ++i) {
        const std::string text = std::to_string(i) + ",";
        out.write(text);
        expected += text;
      }
      out.write(block);
      expected += block;
    }
    out.write("the end");
    out.write("");
    expected += "the end";
    out.flush();
    CHECK(out.taken() == expected.size());
    CHECK_FALSE(out.closed());
    CHECK_FALSE(out.reader_gone());
  }
  pipe.write_end = Descriptor();
  reader.join();
  CHECK((got == expected));
}

TEST_CASE("output: a pipe is enlarged; small texts wait for flush") {
  Pipe pipe;
  OutputStream out(pipe.write_end.get());
  CHECK(::fcntl(pipe.write_end.get(), F_GETPIPE_SZ) == 1 << 20);
  out.write("abc");
  CHECK(out.taken() == 0);
  out.flush();
  CHECK(out.taken() == 3);
}

TEST_CASE("output: a full non-blocking pipe is waited for") {
  Pipe pipe;
  REQUIRE(::fcntl(pipe.write_end.get(), F_SETFL, O_NONBLOCK) == 0);
  const std::string block(5000000, 'x');
  std::thread writer([&] {
    OutputStream out(pipe.write_end.get());
    out.write(block);
    out.flush();
    pipe.write_end = Descriptor();
  });
  CHECK((read_all(pipe.read_end.get()) == block));
  writer.join();
}

TEST_CASE("output: a reader that has gone is a state, not an error") {
  Pipe pipe;
  OutputStream out(pipe.write_end.get());
  out.write("taken");
  out.flush();
  CHECK_FALSE(out.reader_gone());
  pipe.read_end = Descriptor();
  out.write("lost");
  SUBCASE("found out by flushing") {
    CHECK_FALSE(out.closed());
    out.flush();
  }
  SUBCASE("found out by a block") {
    out.write(std::string(100000, 'x'));
  }
  SUBCASE("found out by asking") {
    CHECK(out.reader_gone());
  }
  CHECK(out.closed());
  out.write("dropped");
  out.write(std::string(100000, 'x'));
  out.flush();
  CHECK(out.taken() == 5);
}

TEST_CASE("output: a full device is an error, once") {
  const Descriptor full(::open("/dev/full", O_WRONLY));
  REQUIRE(full.get() >= 0);
  OutputStream out(full.get());
  out.write("abc");
  const auto error = caught([&] { out.flush(); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::storage_error);
  CHECK(error->message() == "cannot write to standard output: No space left on device");
  out.flush();
  CHECK_FALSE(out.closed());
  CHECK(caught([&] { out.write(std::string(1000000, 'x')); }));
}

TEST_CASE("closed standard descriptors are filled with what fails") {
  const int kept_in = ::dup(0);
  const int kept_out = ::dup(1);
  ::close(0);
  ::close(1);
  guard_standard_descriptors();
  char byte = 'x';
  const ssize_t got = ::read(0, &byte, 1);
  const ssize_t put = ::write(1, &byte, 1);
  const int in_flags = ::fcntl(0, F_GETFD);
  ::dup2(kept_in, 0);
  ::dup2(kept_out, 1);
  ::close(kept_in);
  ::close(kept_out);
  CHECK(in_flags != -1);
  CHECK(got == -1);
  CHECK(put == -1);
}
