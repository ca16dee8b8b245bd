// Prefixes that name a speaker, stacked in any order: ` 13: [rank13]: `, `host: [default3]:`,
// `(main_task pid=7) `, `[1,4]<stdout>:`, NCCL's `host:pid:tid [dev] `, UCX's `[host:pid:0] `.
//
// Which speak of a global rank and which of a local one: algorithms.md 5. Labels (`13: `) and
// host names (`node-1: `) look like ordinary text; they are taken only if the survey
// (agent/decode/survey.h) found that they recur. Pure functions over one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/decode/record.h"

namespace l4::decode {

/// What a source's survey allows.
struct PrefixTrust {
  bool labels = false;            ///< srun -l
  bool labels_are_nodes = false;  ///< one task per node: the label is no rank
  bool (*host_known)(const void* context, std::string_view name) = nullptr;
  const void* context = nullptr;
};

struct Prefixes {
  Speaker speaker;
  std::uint64_t key = 0;  ///< of the voice: lines of one key are one thread of text
  /// The key without torch's `[rank4]:`, which heads only the first line of a native stack.
  std::uint64_t outer = 0;
  bool excepthook = false;  ///< `[rank4]:`, which torch sets before tracebacks only
  bool label = false, tee = false;
  std::optional<std::int32_t> label_value;
};

/// Takes all prefixes off the front of `line`; keeps the blanks before the message.
void take_prefixes(std::string_view& line, const PrefixTrust& trust, Prefixes& out);

/// NCCL's and UCX's `host:pid..`, which may also stand behind a time stamp.
bool take_process_tag(std::string_view& line, Prefixes& out);

/// `node-00 rank=4 ` behind a time stamp.
bool take_host_and_rank(std::string_view& line, Prefixes& out);

/// `13: ` with blanks before it; empty if the line does not begin so.
std::optional<std::int32_t> label_of(std::string_view line, std::size_t& length);
/// `name: ` where name may be a host; empty if not.
std::string_view host_prefix_of(std::string_view line);

}  // namespace l4::decode
