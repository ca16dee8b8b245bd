// A question for raw lines as an agent answers it: which logs, by which rules, within which bounds.
//
// Flow: agent/daemon makes it from wire::LinesQuestion and the logs that it follows; read_lines.h
// answers it on the desk's thread (desk.h). Values, and pointers to redactions and codes, which are
// immutable and outlive the desk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agent/decode/decoder.h"
#include "common/wire/lines.h"

namespace l4::drain {
class CodeList;
}
namespace l4::pipeline {
class Redaction;
}

namespace l4::lines {

/// Bounds of one question; the question may ask for less.
struct Bounds {
  std::uint64_t read_bytes_max = 32u << 20;  ///< bytes of unpacked text to read
  std::uint64_t text_bytes_max = 1u << 20;   ///< bytes of the lines in the answer
  Millis time_max{10'000};
};

/// A log that a question asks for.
struct AskedLog {
  std::uint32_t asked = 0;  ///< index into LinesQuestion::files
  std::string folder;       ///< folder of its files, absolute
  std::string base;         ///< name of the file that is written to
  /// Device and inode of the files that the agent follows: these may be read through a link, too.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> known;
};

struct Task {
  std::uint64_t number = 0;  ///< number of the question
  wire::LinesQuestion question;
  std::vector<AskedLog> logs;        ///< sorted by `asked`, which several may share
  std::vector<std::string> texts;    ///< all texts of the template that the agent knows
  std::vector<wire::LinesGap> gaps;  ///< known before anything is read
  decode::Options decode;
  Bounds bounds;
  /// Whether the config allows to read a file of this name in the log's folder.
  std::function<bool(const AskedLog&, const std::string& name)> may_read;
  const pipeline::Redaction* redaction = nullptr;  ///< the user's; null: none
  const pipeline::Redaction* secrets = nullptr;    ///< known secrets; null: none
  const drain::CodeList* codes = nullptr;          ///< null: the list that is compiled in
};

}  // namespace l4::lines
