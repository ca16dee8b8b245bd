// Is a file a log? By its extension first, then by its first 4 KiB.
//
// Extensions of data (csv, pt, safetensors ...) and of code or settings are never logs, .json and
// .jsonl only if their first line is one of a logger; any other file is one if its head is text,
// looked at through packing and encoding. No state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace l4::discover {

/// File name without `.gz` or `.zst` and without rotation suffixes (`.1`, `-20260101`).
std::string_view plain_name(std::string_view file_name);

bool has_data_extension(std::string_view file_name);

/// `.json` or `.jsonl`: whether it is a log, its first line says.
bool has_json_extension(std::string_view file_name);
/// A line that a structured logger wrote, not data.
bool is_json_log_line(std::string_view line);
/// A file called .json or .jsonl whose first line a structured logger wrote, not data.
bool holds_json_log(const std::filesystem::path& path);

enum class Content : std::uint8_t { text, binary };

/// A hole (behind_hole) says nothing of the text behind. Further than this it is not looked for.
inline constexpr std::uint64_t kHoleBytesMax = 256U << 20U;
/// What the first bytes of a text look like, behind a hole.
Content content_of_head(std::string_view head);
/// What the head looks like; an empty file is text. Error if it cannot be read.
Result<Content> content_of(const std::filesystem::path& path);

}  // namespace l4::discover
