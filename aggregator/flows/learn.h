// Learning: the jobs, groups and step rules that the rows of a window show.
//
// Place in the flow: StreamTable -> learn -> JobPlan, once per window, for streams that no job has
// yet. Pure over the table. Cost: a few passes over the rows.
#pragma once

#include <vector>

#include "aggregator/flows/mates.h"
#include "aggregator/flows/plan.h"
#include "aggregator/flows/streams.h"

namespace l4::flows {

std::vector<JobPlan> learn(const StreamTable& table, const ExporterSettings& exporter);

/// Rows by stream, of streams without a job whose pair carries enough to be training.
std::vector<Track> collect_tracks(const StreamTable& table, const ExporterSettings& exporter);

/// Groups over mates, with labels and step rules; and what is left: streams that are point to
/// point.
struct Labelled {
  std::vector<Group> groups;
  std::vector<Edge> pipes, experts;
};
Labelled label(const std::vector<Track>& tracks, const ExporterSettings& exporter);

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
