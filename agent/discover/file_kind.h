// Tells whether a file is a log, by its extension and its first 4 KiB.
//
// Files with extensions of data (csv, pt, safetensors ...), of code or of settings are never logs.
// Files called .json or .jsonl are logs only if a logger wrote their first line, or if they hold
// the state of a job. Any other file is a log if its head, unpacked and decoded, is text. No state.
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

/// `.json` or `.jsonl`: the first line tells whether it is a log.
bool has_json_extension(std::string_view file_name);
/// True for a line that a structured logger wrote, not data.
bool is_json_log_line(std::string_view line);
/// True for JSON in which a batch system or an orchestrator tells the state of a job and the reason
/// of it: it has a key of each (kubectl get pods -o json, describe-jobs, sacct --json).
bool is_job_state(std::string_view json);
/// True for a file called .json or .jsonl whose first line a structured logger wrote, not data, and
/// for one called .json that holds the state of a job (in its first 64 KiB).
bool holds_json_log(const std::filesystem::path& path);

/// True for extensions of data that people also give to texts in which a log stands (.md, .csv ..).
bool may_hold_lines(std::string_view file_name);

enum class Content : std::uint8_t { text, binary };

/// A hole (behind_hole) tells nothing about the text behind it. Longer holes are not searched.
inline constexpr std::uint64_t kHoleBytesMax = 256U << 20U;
/// Classifies the first bytes of a text, behind a hole.
Content content_of_head(std::string_view head);
/// Classifies the head of a file; an empty file is text. Error if it cannot be read.
Result<Content> content_of(const std::filesystem::path& path);

}  // namespace l4::discover
