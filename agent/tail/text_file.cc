#include "agent/tail/text_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/discover/file_reader.h"
#include "common/base/hash.h"

namespace l4::tail {
namespace {

constexpr std::size_t kInputBytes = 64 * 1024;
constexpr std::size_t kSkipBytes = 64 * 1024;

}  // namespace

std::uint64_t fingerprint_of(std::string_view head) {
  return hashing::of_bytes(head.data(), head.size());
}

Outcome<TextFile> TextFile::make(std::unique_ptr<File> file) {
  TextFile text{std::move(file)};
  std::array<char, 4> magic{};
  const auto n = text.file_->read(0, magic);
  if (!n) return std::unexpected(n.error());
  text.magic_.assign(magic.data(), *n);
  text.packed_ = discover::make_unpacker({text.magic_.data(), *n}) != nullptr;
  text.gzip_ = text.packed_ && magic[0] == '\x1f';
  return text;
}

Outcome<TextFile::Piece> TextFile::read(std::uint64_t offset, std::span<char> buffer) {
  if (packed_) return read_packed(offset, buffer);
  const auto n = file_->read(offset, buffer);
  if (!n) return std::unexpected(n.error());
  return Piece{*n, *n < buffer.size(), false, {}};
}

void TextFile::begin_again() {
  unpacker_ = discover::make_unpacker({magic_.data(), magic_.size()});
  input_.resize(kInputBytes);
  input_from_ = input_to_ = 0;
  raw_at_ = text_at_ = 0;
  damage_.clear();
}

/// Unpacks the next piece of text.
Outcome<TextFile::Piece> TextFile::unpack(std::span<char> buffer) {
  Piece piece;
  for (;;) {
    if (!damage_.empty()) {
      piece.at_end = true;
      piece.damage = damage_;
      return piece;
    }
    bool input_ends = false;
    if (input_from_ == input_to_) {
      const auto n = file_->read(raw_at_, input_);
      if (!n) return std::unexpected(n.error());
      input_from_ = 0;
      input_to_ = *n;
      raw_at_ += *n;
      input_ends = *n == 0;
    }
    discover::Unpacker::Step step;
    if (!(unpacker_->complete() && input_from_ == input_to_)) {
      const auto done =
          unpacker_->step({input_.data() + input_from_, input_to_ - input_from_}, buffer);
      if (!done) {
        damage_ = std::string(unpacker_->name()).append(" data ").append(done.error());
        continue;
      }
      step = *done;
    }
    input_from_ += step.used;
    text_at_ += step.made;
    const std::uint64_t most =
        std::max<std::uint64_t>(discover::kUnpackedFree, raw_at_ * discover::kUnpackedShare);
    if (text_at_ > most) damage_ = "unpacks to more than 1032 times its size";
    if (step.made > 0) {
      piece.bytes = step.made;
      return piece;
    }
    if (input_ends && step.used == 0) {
      piece.at_end = true;
      piece.unfinished = !unpacker_->complete();
      return piece;
    }
  }
}

Outcome<TextFile::Piece> TextFile::read_packed(std::uint64_t offset, std::span<char> buffer) {
  if (!unpacker_ || offset < text_at_) begin_again();
  if (!unpacker_) return std::unexpected(ENOMEM);
  std::vector<char> skipped;
  while (text_at_ < offset) {
    skipped.resize(kSkipBytes);
    const auto piece = unpack(
        std::span(skipped).first(std::min<std::uint64_t>(skipped.size(), offset - text_at_)));
    if (!piece || piece->bytes == 0) return piece;
  }
  Piece all;
  while (all.bytes < buffer.size()) {
    auto piece = unpack(buffer.subspan(all.bytes));
    if (!piece) return piece;
    all.bytes += piece->bytes;
    if (piece->bytes > 0) continue;
    piece->bytes = all.bytes;
    return piece;
  }
  return all;
}

Outcome<std::optional<std::uint64_t>> TextFile::claimed_bytes() {
  const auto status = file_->status();
  if (!status) return std::unexpected(status.error());
  if (!packed_) return status->bytes;
  std::array<char, 4> end{};
  if (!gzip_ || status->bytes < 18) return std::nullopt;
  const auto n = file_->read(status->bytes - 4, end);
  if (!n) return std::unexpected(n.error());
  if (*n < 4) return std::nullopt;
  return hashing::load<std::uint32_t>(end.data());
}

Outcome<std::string> TextFile::head(std::size_t bytes) {
  std::string text(bytes, '\0');
  const auto piece = read(0, text);
  if (!piece) return std::unexpected(piece.error());
  text.resize(piece->bytes);
  return text;
}

}  // namespace l4::tail
