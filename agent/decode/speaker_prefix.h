// Prefixes that name a speaker, stacked in any order: ` 13: [rank13]: `, `host: [default3]:`,
// `(main_task pid=7) `, `[1,4]<stdout>:`, NCCL's `host:pid:tid [dev] `, UCX's `[host:pid:0] `.
//
// Each kind of prefix is a row of the table in speaker_prefix.cc. torch's `[rank4]:` is a global
// rank, torchrun's `[default3]:` a local one. Labels (`13: `, `[13] `) and names (`node-1: `,
// `pod-0  | `) look like ordinary text; they count as prefixes only if the survey
// (agent/decode/survey.h) has found that they recur. Pure functions over one line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/decode/front_name.h"
#include "agent/decode/record.h"

namespace l4::decode {

/// The ambiguous prefixes that the survey of a source allows.
struct PrefixTrust {
  bool labels = false;            ///< srun -l
  bool labels_are_nodes = false;  ///< one task per node: the label is not a rank
  bool bracket_labels = false;    ///< MPICH's and Intel MPI's `[3] text`
  std::array<bool, kFronts> fronts{};
  bool (*host_known)(const void* context, std::string_view name) = nullptr;
  const void* context = nullptr;
};

struct Prefixes {
  Speaker speaker;
  std::uint64_t key = 0;  ///< identifies the voice: lines of one key are one thread of text
  /// The key without torch's `[rank4]:`, which stands only before the first line of a native stack.
  std::uint64_t outer = 0;
  bool excepthook = false;  ///< `[rank4]:`, which torch sets before tracebacks only
  bool label = false, tee = false, ray = false;
  bool host_is_label = false;  ///< a name behind the label replaces it
  std::optional<std::int32_t> label_value;
  std::int64_t process = -1;  ///< process id that Ray's tag names
};

/// Removes all prefixes from the front of `line`, which may be the text behind a time stamp; keeps
/// the blanks before the message.
void parse_prefixes(std::string_view& line, const PrefixTrust& trust, Prefixes& out);

/// Removes `node-00 rank=4 ` behind a time stamp.
bool parse_host_and_rank(std::string_view& line, Prefixes& out);

/// The text without Ray's note on repeated lines, ` [repeated 7x across cluster]`.
std::string_view without_repeat_note(std::string_view text);

}  // namespace l4::decode
