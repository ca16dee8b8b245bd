// Collective or point to point: whose transfers end together, and which differ in size.
//
// Place in the flow: rows of the streams of a window -> find_mates -> groups and labels
// (label.h). In a ring, a tree or an all-to-all the transfer into a card and one out of it end
// together; in a pipeline they are a compute time apart. The clock difference of two exporters
// falls out as the median distance. Pure. Cost: for each stream a fixed number of its rows is
// compared with the streams that leave its destination.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aggregator/flows/record.h"
#include "aggregator/flows/streams.h"

namespace l4::flows {

/// The rows of one stream, by their ends.
struct Track {
  std::uint32_t stream = 0;
  std::uint32_t src = 0, dst = 0;  ///< cards
  std::span<const Row> rows;
  std::shared_ptr<const void> memory;  ///< where they are, with those of other tracks
};

struct Mate {
  std::uint32_t track = kNone;  ///< the stream out of the destination that fits best
  double share = 0;             ///< of rows that end with one of the mate's, of the same size
  TimeNs offset = 0;            ///< median distance: end of the mate's minus own
};

/// The best mate of each track; candidates are tracks that leave its destination.
std::vector<Mate> find_mates(const std::vector<Track>& tracks, const ExporterSettings& exporter);

/// The mean of a Poisson count whose mean without zeros is `seen`.
double rate_of_seen(double seen);

/// For each of `streams` (places in `tracks`) whether its transfers differ in size, as exchanges
/// between experts do, where one packet in N is seen. Packets that were seen scatter as Poisson
/// counts without their zeros do; what is beyond that is the stream's own. One stream of few
/// packets hardly shows it, so streams of a card that carry as many records of one size are judged
/// together: n of them tell as much as one with n times the records.
std::vector<bool> vary_sampled(const std::vector<Track>& tracks,
                               const std::vector<std::uint32_t>& streams,
                               const ExporterSettings& exporter);

/// How far apart ends may lie that mean the same moment, for a row of which only every so many
/// packets were seen.
TimeNs end_tolerance(const Row& row, TimeNs exact, std::uint32_t sampling);

}  // namespace l4::flows
