// Lines that are new to a running job and worded as a failure.
//
// Flow: JobWatch gives each batch after JobState has applied it; the cost follows the batch.
// Wording and level of a template are judged once, when it is defined; only templates that tell of
// a failure are looked up. An event that occurs while iterations go on is noise until the next
// attempt; a fatal event counts again after a minute without it. One thread. Bounds: 65,536 telling
// templates an agent, 4,096 telling events a job; further ones are counted and not looked up.
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
    std::optional<Hit> worst;  ///< most severe new event
    bool finished = false;     ///< most ranks, or a launcher, say that they ended well
  };

  /// `ticks`: iterations of the job so far.
  Found applied(const job::JobState& state, const job::AgentSlice& agent,
                std::uint32_t agent_number, const wire::Batch& batch, std::uint64_t ticks,
                TimeMs arrival);
  using Normal = std::function<bool(const wire::TemplateDefinition&)>;
  /// Templates that are defined from now on and for which `normal` is true do not count as
  /// failures, unless they are fatal.
  void set_normal(Normal normal) { normal_ = std::move(normal); }
  /// Another attempt began: former noise may show a failure again.
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
  std::set<Speaker> ranks_, finished_;                     // ranks of this attempt
  std::uint64_t left_out_ = 0;
};

}  // namespace l4::watch
