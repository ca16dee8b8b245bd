#include "agent/decode/utf16.h"

#include <utility>

namespace l4::decode {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::uint16_t kByteOrderMark = 0xFEFF;

void append(std::uint32_t code, std::string& out) {
  const auto append = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    append(code);
    return;
  }
  if (code < 0x800) {
    append(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      append(0xE0 | code >> 12);
    } else {
      append(0xF0 | code >> 18);
      append(0x80 | (code >> 12 & 0x3F));
    }
    append(0x80 | (code >> 6 & 0x3F));
  }
  append(0x80 | (code & 0x3F));
}

}  // namespace

std::optional<ByteOrder> utf16_order(std::string_view head) {
  if (head.starts_with("\xff\xfe")) return ByteOrder::little;
  if (head.starts_with("\xfe\xff")) return ByteOrder::big;
  // No mark: nearly every second byte is NUL and the others are text, as in UTF-16 of Latin
  // letters.
  if (head.find('\0') == head.npos) return std::nullopt;
  std::array<std::size_t, 2> nul{}, text{};
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto byte = static_cast<unsigned char>(head[i]);
    nul[i % 2] += byte == 0;
    text[i % 2] += (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t';
  }
  const std::size_t half = head.size() / 2;
  for (const std::size_t zero : {0, 1})
    if (half >= 8 && nul[zero] * 10 >= half * 8 && text[1 - zero] * 10 >= half * 8)
      return zero == 0 ? ByteOrder::big : ByteOrder::little;
  return std::nullopt;
}

bool decode_utf16_line(std::string_view line, std::string& out) {
  constexpr std::size_t kUnitsMin = 2, kUnitsShort = 32;
  std::array<std::size_t, 2> nul{};
  for (std::size_t i = 0; i < line.size(); ++i) nul[i % 2] += line[i] == '\0';
  const std::size_t units = line.size() / 2;
  const std::size_t nuls = nul[0] + nul[1];
  // Binary data has short lines with a NUL, too: those must be Latin for the larger part.
  if (units < kUnitsMin || (nul[0] > 0) == (nul[1] > 0) ||
      nuls * (units < kUnitsShort ? 2 : 4) < units)
    return false;
  const std::size_t low = nul[0] > 0 ? 1 : 0;
  for (std::size_t i = 0; i < units; ++i) {
    const auto letter = static_cast<unsigned char>(line[2 * i + low]);
    if (line[2 * i + 1 - low] == '\0' && letter < 0x20 && letter != '\t' && letter != '\r' &&
        letter != '\x1b')
      return false;
  }
  out.clear();
  Utf16Decoder decoder(nul[0] > 0 ? ByteOrder::big : ByteOrder::little);
  decoder.decode(line.substr(0, units * 2), out);
  return true;
}

void Utf16Decoder::unit(std::uint16_t value, std::string& out) {
  const bool first = std::exchange(first_, false);
  if (first && value == kByteOrderMark) return;
  const bool high = value >= 0xD800 && value < 0xDC00;
  const bool low = value >= 0xDC00 && value < 0xE000;
  if (surrogate_) {
    const std::uint32_t front = *std::exchange(surrogate_, std::nullopt);
    if (low) {
      append(0x10000 + ((front - 0xD800) << 10) + (value - 0xDC00U), out);
      return;
    }
    append(kReplacement, out);
  }
  if (high)
    surrogate_ = value;
  else
    append(low ? kReplacement : value, out);
}

void Utf16Decoder::decode(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!half_) {
      half_ = byte;
      continue;
    }
    const unsigned first = *std::exchange(half_, std::nullopt);
    const unsigned value = order_ == ByteOrder::big ? first << 8 | byte : byte << 8 | first;
    unit(static_cast<std::uint16_t>(value), out);
  }
}

void Utf16Decoder::finish(std::string& out) {
  if (surrogate_ || half_) append(kReplacement, out);
  surrogate_.reset();
  half_.reset();
}

}  // namespace l4::decode
