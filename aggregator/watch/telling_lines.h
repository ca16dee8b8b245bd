// Lines that are new to a running job and worded as a failure.
//
// Flow: JobWatch gives each batch after JobState has applied it; the cost follows the batch. A
// template's wording and level are judged once, when it is defined; only those that tell of a
// failure are looked for. An event that was there while iterations went on is noise from then on,
// until the next attempt; one that is fatal counts again when it was not seen for a minute.
// One thread. Bounds: 65,536 telling templates an agent, 4,096 telling events a job; what does not
// fit is not looked for, and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "aggregator/detect/evidence/wording.h"
#include "aggregator/job/job_state.h"
#include "common/base/byte_stream.h"

namespace l4::watch {

class TellingLines {
 public:
  struct Hit {
    detect::Severity severity = detect::Severity::failure;
    std::string node;
    std::optional<Rank> rank;
    std::string text;
  };
  struct Found {
    std::optional<Hit> worst;  ///< of what is new
    bool finished = false;     ///< most ranks, or a launcher, say that they ended well
  };

  /// `ticks`: iterations of the job so far.
  Found applied(const job::JobState& state, const job::AgentSlice& agent,
                std::uint32_t agent_number, const wire::Batch& batch, std::uint64_t ticks,
                TimeMs arrival);
  using Normal = std::function<bool(const wire::TemplateDefinition&)>;
  /// Templates that are defined from now on and that it knows are not telling, unless fatal.
  void set_normal(Normal normal) { normal_ = std::move(normal); }
  /// Another attempt: what was noise may be telling again.
  void restart();
  std::uint64_t left_out() const { return left_out_; }

  void save(ByteWriter& out) const;  ///< all but set_normal()
  void load(ByteReader& in);

 private:
  struct AgentTemplates {
    std::unordered_map<std::uint32_t, detect::Severity> telling;  // by local template
    std::unordered_set<std::uint32_t> finishing;
  };
  struct Known {
    std::uint64_t ticks = 0;
    TimeMs last;
  };
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void define(AgentTemplates& agent, const wire::TemplateDefinition& definition);
  bool is_new(TemplateId id, detect::Severity severity, std::uint64_t ticks, TimeMs now);

  Normal normal_;
  std::unordered_map<std::uint32_t, AgentTemplates> agents_;
  std::unordered_map<TemplateId, Known> known_;
  using Speaker = std::pair<std::uint32_t, std::int64_t>;  // agent and local rank, or a rank
  std::set<Speaker> ranks_, finished_;                     // of this attempt
  std::uint64_t left_out_ = 0;
};

}  // namespace l4::watch
