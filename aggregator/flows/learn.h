// Learning: the jobs, groups and step rules that the rows of a window show.
//
// Place in the flow: StreamTable -> learn -> JobPlan, once per window, for streams that no job has
// yet: all of them, or part by part where records come meanwhile. Pure over the table. Cost: a pass
// over all rows, and a few over those of the streams that are learned.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "aggregator/flows/mates.h"
#include "aggregator/flows/plan.h"
#include "aggregator/flows/streams.h"

namespace l4::flows {

/// Indices of streams, ascending.
using StreamList = std::vector<std::uint32_t>;

/// Streams that no job has.
StreamList free_streams(const StreamTable& table);
/// The same by parts of the network that share no server, each of which can be learned without the
/// others; streams of the jobs in `outgrown` count as if no job had them. Without a topology any
/// two cards may belong together: one part.
std::vector<StreamList> parts_to_learn(const StreamTable& table, const ExporterSettings& exporter,
                                       const std::set<std::uint32_t>& outgrown);

/// Jobs among those of `streams` that no job has.
std::vector<JobPlan> learn(const StreamTable& table, const StreamList& streams,
                           const ExporterSettings& exporter);

/// Rows by stream, of streams without a job whose pair carries enough to be training.
std::vector<Track> collect_tracks(const StreamTable& table, const StreamList& streams,
                                  const ExporterSettings& exporter);

/// Groups over mates, with labels and step rules; and what is left: streams that are point to
/// point.
struct Labelled {
  std::vector<Group> groups;
  std::vector<Edge> pipes, experts;
};
Labelled label(const StreamTable& table, const std::vector<Track>& tracks,
               const ExporterSettings& exporter);

/// Share of a period outside of the longest pause of these streams in it.
double fill_of(const std::vector<const Track*>& tracks, TimeNs period);

/// Parts that are connected by pairs, joined where they share a server and step together.
std::vector<JobPlan> join_jobs(const StreamTable& table, const std::vector<Track>& tracks,
                               Labelled labelled, const ExporterSettings& exporter);

/// Sizes of tensor, pipeline and data parallelism; none unless they give the job's cards.
std::optional<Strategy> strategy_of(const JobPlan& job, const StreamTable& table,
                                    const std::vector<Track>& tracks);

/// The events of a group as far as the rows go.
std::vector<Beat> beats_of(const Group& group, const std::vector<const Track*>& tracks);

}  // namespace l4::flows
