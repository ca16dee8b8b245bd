// Limits of a batch and its fields; the decoder refuses a batch that breaks one.
#pragma once

#include <cstddef>
#include <vector>

namespace l4::wire {

/// An encoded message.
using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kMessageBytesMax = 64u << 20;  ///< longer messages are refused unread

inline constexpr std::size_t kTemplateTextBytesMax = 4096;
inline constexpr std::size_t kSkeletonsMax = 8;
inline constexpr std::size_t kOrderRunsMax = 4096;
inline constexpr std::size_t kParameterBytesMax = 128;
inline constexpr std::size_t kUserBytesMax = 128;  ///< of the name of a source's user
inline constexpr std::size_t kFigureNameBytesMax = 64;
inline constexpr std::size_t kReadingTextBytesMax = 4096;  ///< of each text of a FileReading
inline constexpr std::size_t kForgottenMax = 65'536;       ///< the sender splits longer lists

}  // namespace l4::wire
