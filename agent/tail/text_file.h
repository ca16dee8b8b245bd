// The text of one physical file by offset, plain or packed (gzip, zstd).
//
// Place in the flow: between an open File and the part that is read from it. Offsets count in the
// text. A packed file is unpacked front to back; a smaller offset unpacks it from the beginning
// again. A packed file that is still being written is not an error but `unfinished`. Owned by its
// part; one thread.
// Bounds: a packed file gives at most discover::kUnpackedShare times its size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/discover/unpacker.h"
#include "agent/tail/file_system.h"

namespace l4::tail {

/// Bytes at the beginning of a text that its fingerprint covers.
inline constexpr std::size_t kHeadBytes = 4096;
/// A file under the log's own name is not recognised by fewer bytes: many programs print the same
/// banner.
inline constexpr std::uint32_t kFingerprintMin = 32;

/// Hash of the first bytes of a text; part of what is stored and sent: never to be changed.
std::uint64_t fingerprint_of(std::string_view head);

class TextFile {
 public:
  /// Reads the first bytes of an open file to see how it is packed.
  static Outcome<TextFile> make(std::unique_ptr<File> file);

  struct Piece {
    std::size_t bytes = 0;
    bool at_end = false;      ///< nothing follows now
    bool unfinished = false;  ///< packed text that stops before its end mark
    std::string damage;       ///< why packed text cannot be read from here on
  };
  /// Fills `buffer` from `offset`, as far as there is text.
  Outcome<Piece> read(std::uint64_t offset, std::span<char> buffer);

  bool packed() const { return packed_; }
  /// Size of the text if that is known: of a plain file, and of gzip as its last bytes claim
  /// (modulo 4 GiB, wrong for several members).
  Outcome<std::optional<std::uint64_t>> claimed_bytes();
  Outcome<Status> status() { return file_->status(); }
  Outcome<std::string> head(std::size_t bytes);

 private:
  explicit TextFile(std::unique_ptr<File> file) : file_(std::move(file)) {}
  Outcome<Piece> read_packed(std::uint64_t offset, std::span<char> buffer);
  Outcome<Piece> unpack(std::span<char> buffer);
  void begin_again();

  std::unique_ptr<File> file_;
  bool packed_ = false;
  bool gzip_ = false;
  std::string magic_;
  // The unpacker, its input, and its offsets in the file and in the text.
  std::unique_ptr<discover::Unpacker> unpacker_;
  std::vector<char> input_;
  std::size_t input_from_ = 0, input_to_ = 0;
  std::uint64_t raw_at_ = 0, text_at_ = 0;
  std::string damage_;
};

}  // namespace l4::tail
