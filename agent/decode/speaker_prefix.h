// Prefixes that name a speaker, stacked in any order: ` 13: [rank13]: `, `host: [default3]:`,
// `(main_task pid=7) `, `[1,4]<stdout>:`, NCCL's `host:pid:tid [dev] `, UCX's `[host:pid:0] `.
//
// One row each in the table of speaker_prefix.cc. torch's `[rank4]:` is a global rank, torchrun's
// `[default3]:` a local one. Labels (`13: `, `[13] `) and names (`node-1: `, `pod-0  | `) look like
// ordinary text; they are taken only if the survey (agent/decode/survey.h) found that they recur.
// Pure functions over one line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/decode/front_name.h"
#include "agent/decode/record.h"

namespace l4::decode {

/// What a source's survey allows.
struct PrefixTrust {
  bool labels = false;            ///< srun -l
  bool labels_are_nodes = false;  ///< one task per node: the label is no rank
  bool bracket_labels = false;    ///< MPICH's and Intel MPI's `[3] text`
  std::array<bool, kFronts> fronts{};
  bool (*host_known)(const void* context, std::string_view name) = nullptr;
  const void* context = nullptr;
};

struct Prefixes {
  Speaker speaker;
  std::uint64_t key = 0;  ///< of the voice: lines of one key are one thread of text
  /// The key without torch's `[rank4]:`, which heads only the first line of a native stack.
  std::uint64_t outer = 0;
  bool excepthook = false;  ///< `[rank4]:`, which torch sets before tracebacks only
  bool label = false, tee = false, ray = false;
  bool host_is_label = false;  ///< a name behind it is better
  std::optional<std::int32_t> label_value;
};

/// Takes all prefixes off the front of `line`; keeps the blanks before the message. Also for what
/// stands behind a time stamp.
void parse_prefixes(std::string_view& line, const PrefixTrust& trust, Prefixes& out);

/// `node-00 rank=4 ` behind a time stamp.
bool parse_host_and_rank(std::string_view& line, Prefixes& out);

/// Ray's note behind a line that several said: ` [repeated 7x across cluster]`.
std::string_view without_repeat_note(std::string_view text);

}  // namespace l4::decode
