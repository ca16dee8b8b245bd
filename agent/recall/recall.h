// A request for raw lines, and its hits.
//
// Place in the flow: after a verdict the aggregator's side asks an agent for the lines of a few
// templates; agent/node_agent.h reads only the spans that hold them (agent/recall/segment_index.h),
// with learning off. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::recall {

struct Wanted {
  LocalTemplateId id;
  std::vector<SourceId> sources;  ///< only these; empty: every source of the agent
  std::optional<TimeMs> from;     ///< lines that are known to be older do not count
};

/// One request holds all wanted templates, so that bytes that several of them need are read once.
struct Request {
  std::vector<Wanted> wanted;              ///< may name a template more than once
  std::size_t lines_per_template_max = 0;  ///< for each element of `wanted`; 0: all
  std::size_t text_bytes_max = 0;          ///< 0: no text
  /// How many bytes of a span are still read after a line of its template was found; 0: the rest.
  std::uint64_t bytes_for_more = 0;
};

struct Hit {
  LocalTemplateId id;
  SourceId source;
  std::size_t wanted = 0;            ///< index in Request::wanted
  std::string file;                  ///< physical file, as in reports
  std::vector<std::uint64_t> lines;  ///< line numbers of the record in that file, from 1
  std::optional<TimeMs> time;
  std::string text;  ///< the message; of a stack also the lines below it, each on a line
};

}  // namespace l4::recall
