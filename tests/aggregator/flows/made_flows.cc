#include "tests/aggregator/flows/made_flows.h"

#include <algorithm>
#include <random>

namespace l4::flows::made {

Address card(unsigned server, unsigned rail) {
  return Address::of_ipv4((10u << 24) | (rail << 16) | (server + 1));
}

Topology topology(unsigned servers, unsigned rails) {
  Topology made;
  for (unsigned s = 0; s < servers; ++s) {
    const std::uint32_t server = made.add_server("node-" + std::to_string(s));
    made.add_front_end(Address::of_ipv4((172u << 24) | (s + 1)), server);
    for (unsigned r = 0; r < rails; ++r)
      made.add_card(card(s, r), {"mlx5_" + std::to_string(r), server, "leaf-" + std::to_string(r)});
  }
  made.add_storage(Address::of_ipv4((172u << 24) | (1u << 16) | 1));
  return made;
}

std::vector<FlowRecord> records(const Ring& ring, std::vector<TimeNs>* ends) {
  std::mt19937 random(ring.first_server * 100 + ring.servers);
  std::uniform_int_distribution<TimeNs> jitter(0, kMillisecond / 50);
  constexpr double kRate = 25e9;  // bytes a second
  std::vector<FlowRecord> all;
  TimeNs now = ring.begin;
  for (unsigned step = 0; step < ring.steps; ++step) {
    TimeNs step_end = 0;
    double late = 0;
    for (unsigned s = 0; s < ring.servers; ++s) late = std::max(late, ring.late(step, s));
    const TimeNs compute = ring.period * 8 / 10 + jitter(random) * 50;
    for (unsigned rail = 0; rail < ring.rails; ++rail) {
      TimeNs end = 0;
      for (unsigned bucket = 0; bucket < ring.buckets; ++bucket) {
        const TimeNs ready = now + compute + ring.period * bucket / 50;
        std::vector<TimeNs> starts;
        double longest = 0;
        for (unsigned s = 0; s < ring.servers; ++s) {
          const auto behind = [&](unsigned server) {
            return static_cast<TimeNs>(ring.late(step, server) * 1e9);
          };
          const unsigned next = (s + 1) % ring.servers;
          starts.push_back(std::max(end, ready + std::max(behind(s), behind(next))) +
                           jitter(random));
          longest = std::max(longest,
                             std::max(ring.slower(step, s, rail), ring.slower(step, next, rail)));
        }
        const TimeNs last = *std::ranges::max_element(starts);
        end = last + static_cast<TimeNs>(static_cast<double>(ring.bytes) / kRate * longest * 1e9);
        for (unsigned s = 0; s < ring.servers; ++s) {
          if (!ring.sends(step, s)) continue;
          FlowRecord record;
          record.start = starts[s];
          record.end = end - jitter(random);
          record.src = card(ring.first_server + s, rail);
          record.dst = card(ring.first_server + (s + 1) % ring.servers, rail);
          record.src_port = static_cast<std::uint16_t>(50'000 + s);
          record.dst_port = kRocePort;
          record.protocol = 17;
          record.bytes = ring.bytes;
          record.packets = ring.bytes / 4096;
          all.push_back(record);
        }
      }
      step_end = std::max(step_end, end);
    }
    if (ends != nullptr) ends->push_back(step_end);
    now = step_end + ring.period / 50;
  }
  std::ranges::stable_sort(all, {}, &FlowRecord::end);
  return all;
}

std::vector<FlowRecord> merged(std::vector<FlowRecord> one, const std::vector<FlowRecord>& two) {
  one.insert(one.end(), two.begin(), two.end());
  std::ranges::stable_sort(one, {}, &FlowRecord::end);
  return one;
}

void number(std::vector<FlowRecord>& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].exporter = 0;
    records[i].sequence = i;
    records[i].has_sequence = true;
  }
}

}  // namespace l4::flows::made
