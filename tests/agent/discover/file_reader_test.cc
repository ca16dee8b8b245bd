#include "agent/discover/file_reader.h"

#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

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

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct Whole {
  std::string text, reason;
  bool failed = false;
};

Whole read_all(const std::filesystem::path& path, std::size_t chunk) {
  Whole whole;
  auto reader = FileReader::open(path);
  REQUIRE(reader);
  std::vector<char> buffer(chunk);
  for (;;) {
    const auto n = reader->read(buffer);
    if (!n) {
      whole.failed = true;
      whole.reason = n.error().reason;
    }
    if (!n || *n == 0) return whole;
    whole.text.append(buffer.data(), *n);
  }
}

TEST_CASE("file reader: plain and gzip give the same bytes, whatever the name") {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  const l4::test::TempFolder folder;
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
  const l4::test::TempFolder folder;
  const Whole cut = read_all(folder.file("cut.gz", packed.substr(0, packed.size() / 2)), 4096);
  CHECK(cut.failed);
  CHECK(cut.text.size() > 1000);
  CHECK(text.starts_with(cut.text));
  std::string broken = packed;
  for (std::size_t i = 0; i < 64; ++i) broken[broken.size() / 2 + i] = '\xff';
  CHECK(read_all(folder.file("broken.gz", broken), 4096).failed);
}

TEST_CASE("file reader: zstd, its frames, its damage") {
  std::string text;
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(random()) + "\n";
  const std::string packed = zstd(text);
  const std::string skipped{"\x50\x2a\x4d\x18\x04\0\0\0skip", 12};
  const l4::test::TempFolder folder;
  for (const std::size_t chunk : {std::size_t{1000}, std::size_t{1} << 20}) {
    CHECK(read_all(folder.file("a.log", packed), chunk).text == text);
    CHECK(read_all(folder.file("b.zst", skipped + zstd("first\n") + packed), chunk).text ==
          "first\n" + text);
    CHECK(read_all(folder.file("c.zst", packed + std::string(8, '\0')), chunk).text == text);
  }
  const Whole cut = read_all(folder.file("cut.zst", packed.substr(0, packed.size() / 2)), 4096);
  CHECK(cut.reason == "zstd data ends before its end mark");
  CHECK(text.starts_with(cut.text));
  CHECK(cut.text.size() > 1000);
  std::string broken = packed;
  // Without a checksum zstd does not notice a wrong letter, but it notices a wrong block.
  std::fill(broken.begin() + 300'000, broken.end(), '\xff');
  const Whole damaged = read_all(folder.file("broken.zst", broken), 4096);
  CHECK(damaged.reason == "zstd data is damaged");
  CHECK(damaged.text.size() > 100'000);
}

/// `times` frames of 32 MB of one character each: about 1 KB a frame.
std::string bomb(std::size_t times) {
  const std::string frame = zstd(std::string(std::size_t{32} << 20, 'x'));
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += frame;
  return all;
}

TEST_CASE("file reader: a bomb ends where gzip could not make more, and says so") {
  const l4::test::TempFolder folder;
  const auto path = folder.file("bomb.zst", bomb(12));  // 384 MB
  auto reader = FileReader::open(path);
  REQUIRE(reader);
  std::vector<char> buffer(1 << 20);
  std::uint64_t bytes = 0;
  for (;;) {
    const auto n = reader->read(buffer);
    if (!n) {
      CHECK(n.error().reason.find("more than 1032 times its size") != std::string::npos);
      break;
    }
    REQUIRE(*n > 0);
    bytes += *n;
  }
  CHECK(bytes >= kUnpackedFree);
  CHECK(bytes <= kUnpackedFree + buffer.size());
}

TEST_CASE("file reader: skipping gives the place that reading gives") {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  std::string wide = "\xff\xfe";
  for (const char c : text) wide.append({c, '\0'});
  const l4::test::TempFolder folder;
  for (const auto& path : {folder.file("a.log", text), folder.file("b.gz", gzip(text)),
                           folder.file("c.zst", zstd(text)), folder.file("d.log", wide),
                           folder.file("e.zst", zstd(wide))}) {
    for (const std::size_t skip : {std::size_t{0}, std::size_t{10}, std::size_t{300'000}}) {
      auto reader = FileReader::open(path);
      REQUIRE(reader);
      REQUIRE(reader->skip(skip));
      std::string got(5, '\0');
      REQUIRE(reader->read(got));
      CHECK(got == text.substr(skip, 5));
    }
  }
}

TEST_CASE("file reader: a missing file is named") {
  const auto reader = FileReader::open("/nonexistent/x.log");
  REQUIRE_FALSE(reader);
  CHECK(reader.error().where == "/nonexistent/x.log");
}

}  // namespace
}  // namespace l4::discover
