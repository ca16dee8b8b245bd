// A question for raw lines, and its answer.
//
// Place in the flow: after a verdict the aggregator's side asks an agent for the lines of a few
// templates; agent/node_agent.h answers by reading just the spans that hold them
// (agent/recall/segment_index.h), with learning off. Values only.
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
  std::optional<TimeMs> from;     ///< nothing that is known to be older
};

/// One request for all that is wanted: what several want is read once.
struct Request {
  std::vector<Wanted> wanted;              ///< a template may stand in it more than once
  std::size_t lines_per_template_max = 0;  ///< for each that is wanted; 0: all
  std::size_t text_bytes_max = 0;          ///< 0: no text
  /// Of a span, once a line of its template was found: more are not looked for. 0: all of it.
  std::uint64_t bytes_for_more = 0;
};

struct Hit {
  LocalTemplateId id;
  SourceId source;
  std::size_t wanted = 0;            ///< whose it is: place in Request::wanted
  std::string file;                  ///< physical file, as in reports
  std::vector<std::uint64_t> lines;  ///< lines of that file which the record has, from 1
  std::optional<TimeMs> time;
  std::string text;
};

}  // namespace l4::recall
