#include "agent/discover/file_reader.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "tests/agent/discover/temp_folder.h"

namespace l4::discover {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string input = text;
  std::string out(text.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Whole {
  std::string text;
  bool failed = false;
};

Whole read_all(const std::filesystem::path& path, std::size_t chunk) {
  Whole whole;
  auto reader = FileReader::open(path);
  REQUIRE(reader);
  std::vector<char> buffer(chunk);
  for (;;) {
    const auto n = reader->read(buffer);
    if (!n) whole.failed = true;
    if (!n || *n == 0) return whole;
    whole.text.append(buffer.data(), *n);
  }
}

TEST_CASE("file reader: plain and gzip give the same bytes, whatever the name") {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  const test::TempFolder folder;
  const auto plain = folder.file("a.gz", text);
  const auto packed = folder.file("b.log", gzip(text));
  const auto members = folder.file("c.gz", gzip("first\n") + gzip(text) + std::string(8, '\0'));
  for (const std::size_t chunk : {std::size_t{1000}, std::size_t{1} << 20}) {
    CHECK(read_all(plain, chunk).text == text);
    CHECK(read_all(packed, chunk).text == text);
    CHECK(read_all(members, chunk).text == "first\n" + text);
  }
}

TEST_CASE("file reader: truncated and damaged gzip deliver what is whole") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  const std::string packed = gzip(text);
  const test::TempFolder folder;
  const Whole cut = read_all(folder.file("cut.gz", packed.substr(0, packed.size() / 2)), 4096);
  CHECK(cut.failed);
  CHECK(cut.text.size() > 1000);
  CHECK(text.starts_with(cut.text));
  std::string broken = packed;
  for (std::size_t i = 0; i < 64; ++i) broken[broken.size() / 2 + i] = '\xff';
  CHECK(read_all(folder.file("broken.gz", broken), 4096).failed);
}

TEST_CASE("file reader: a missing file is named") {
  const auto reader = FileReader::open("/nonexistent/x.log");
  REQUIRE_FALSE(reader);
  CHECK(reader.error().where == "/nonexistent/x.log");
}

}  // namespace
}  // namespace l4::discover
