// Unpacks a stream of gzip or zstd, recognised by its first bytes and not by a name.
// Place in the flow: inside FileReader, between the descriptor and the encoding. One per file, one
// thread. Several members or frames in a row read as one stream. Bytes behind the last one are left
// out, as gzip does, and counted unless they are padding. Memory: zlib's 40 KB, or zstd's window,
// of which more than 128 MB is refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "common/base/error.h"

namespace l4::discover {

class Unpacker {
 public:
  virtual ~Unpacker() = default;

  struct Step {
    std::size_t used = 0;  ///< bytes of the input
    std::size_t made = 0;  ///< bytes of the output
  };
  /// Error: what is wrong with the data; nothing more can be read then.
  virtual std::expected<Step, std::string_view> step(std::span<const char> input,
                                                     std::span<char> output) = 0;
  /// True at the end of a member: the input may end here.
  virtual bool complete() const = 0;
  virtual std::string_view name() const = 0;
  /// Bytes behind the last member that are neither a member nor NUL.
  std::uint64_t left_out() const { return left_out_; }

 protected:
  Step leave_out(std::span<const char> input) {
    left_out_ += input.size() - static_cast<std::size_t>(std::ranges::count(input, '\0'));
    return {input.size(), 0};
  }

 private:
  std::uint64_t left_out_ = 0;
};

/// The unpacker for a file that begins with `head`; null if that is neither gzip nor zstd, or if
/// memory is short.
std::unique_ptr<Unpacker> make_unpacker(std::span<const char> head);

}  // namespace l4::discover
