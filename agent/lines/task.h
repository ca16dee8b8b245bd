// A question for raw lines as an agent reads for it: which logs, by which rules, within what.
//
// Flow: agent/daemon makes it of wire::LinesQuestion and of what it follows; read_lines.h answers
// it, on a thread of its own (desk.h). Values, but for what is immutable and outlives the agent's
// desk: redactions and codes.
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

/// Of one question; what the question says counts where it is less.
struct Bounds {
  std::uint64_t read_bytes_max = 32u << 20;  ///< of unpacked text
  std::uint64_t text_bytes_max = 1u << 20;   ///< of lines that are given
  Millis time_max{10'000};
};

/// A log that is asked for.
struct AskedLog {
  std::uint32_t asked = 0;  ///< place in LinesQuestion::files
  std::string folder;       ///< where its files stand, absolute
  std::string base;         ///< name of the file that is written to
  /// Device and inode of files that the agent follows: they may be read also through a link.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> known;
};

struct Task {
  std::uint64_t number = 0;  ///< of the question
  wire::LinesQuestion question;
  std::vector<AskedLog> logs;        ///< by `asked`; several may be of one
  std::vector<std::string> texts;    ///< of the template: all that the agent knows it by
  std::vector<wire::LinesGap> gaps;  ///< what is known to be missing before anything is read
  decode::Options decode;
  Bounds bounds;
  /// Whether a file of this name in the log's folder may be read at all: the config's excludes.
  std::function<bool(const AskedLog&, const std::string& name)> may_read;
  const pipeline::Redaction* redaction = nullptr;  ///< the user's; null: none
  const pipeline::Redaction* secrets = nullptr;    ///< those that are known; null: none
  const drain::CodeList* codes = nullptr;          ///< null: the list that is compiled in
};

}  // namespace l4::lines
