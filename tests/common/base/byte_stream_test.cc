#include "common/base/byte_stream.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace l4;

TEST_CASE("byte stream: what was written is read") {
  ByteWriter out;
  out.byte(7);
  for (const std::uint64_t value : {0ULL, 127ULL, 128ULL, ~0ULL}) out.number(value);
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()})
    out.signed_number(value);
  out.word(0x0123456789abcdefULL);
  out.real(-0.5);
  out.text(std::string("a\0b", 3));
  out.text("");
  ByteReader in(out.bytes());
  CHECK(in.byte() == 7);
  for (const std::uint64_t value : {0ULL, 127ULL, 128ULL, ~0ULL}) CHECK(in.number() == value);
  CHECK(in.signed_number() == 0);
  CHECK(in.signed_number() == -1);
  CHECK(in.signed_number() == std::numeric_limits<std::int64_t>::min());
  CHECK(in.signed_number() == std::numeric_limits<std::int64_t>::max());
  CHECK(in.word() == 0x0123456789abcdefULL);
  CHECK(in.real() == -0.5);
  CHECK(in.text() == std::string("a\0b", 3));
  CHECK(in.text().empty());
  CHECK(in.ok());
  CHECK(in.left() == 0);
  CHECK(in.byte() == 0);
  CHECK_FALSE(in.ok());
}

TEST_CASE("byte stream: small numbers are short, sizes are what they are") {
  ByteWriter out;
  out.number(127);
  CHECK(out.size() == 1);
  out.signed_number(-64);
  CHECK(out.size() == 2);
  out.number(128);
  CHECK(out.size() == 4);
}

TEST_CASE("byte stream: no count promises more than is there") {
  ByteWriter out;
  out.number(100);
  out.raw(std::as_bytes(std::span("0123456789", 10)));
  CHECK(ByteReader(out.bytes()).count(1) == 0);
  ByteWriter fits;
  fits.number(5);
  fits.raw(std::as_bytes(std::span("0123456789", 10)));
  CHECK(ByteReader(fits.bytes()).count(2) == 5);
  CHECK(ByteReader(fits.bytes()).count(3) == 0);
}

TEST_CASE("byte stream: random bytes end in failure or at the end, never beyond") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(random() % 40);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    ByteReader in(bytes);
    for (int i = 0; i < 20 && in.ok(); ++i) {
      const std::size_t before = in.left();
      switch (random() % 5) {
        case 0:
          static_cast<void>(in.number());
          break;
        case 1:
          static_cast<void>(in.text());
          break;
        case 2:
          static_cast<void>(in.word());
          break;
        case 3:
          CHECK(in.count(3) <= before / 3);
          break;
        default:
          static_cast<void>(in.number32());
          break;
      }
      CHECK(in.left() <= before);
    }
  }
}
