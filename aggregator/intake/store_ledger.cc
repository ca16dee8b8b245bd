#include "aggregator/intake/store_ledger.h"

#include "common/base/check.h"

namespace l4::intake {

StoreLedger::StoreLedger(store::Store& store, store::OffsetTable offsets, store::Seq last,
                         Deliver deliver, std::function<TimeMs()> now,
                         const std::atomic<bool>& accepting)
    : store_(store),
      offsets_(std::move(offsets)),
      deliver_(std::move(deliver)),
      now_(std::move(now)),
      last_(last),
      accepting_(accepting) {}

receive::AgentRecord StoreLedger::load(const std::string& agent) {
  // The agent has no batch under way, or the server would still know it; only a copy can still
  // arrive.
  if (taken_.contains(agent)) static_cast<void>(store_.flush());
  receive::AgentRecord record;
  const auto newest = offsets_.newest(agent);
  record.incarnation = newest.incarnation;
  record.last_sequence = newest.sequence;
  record.adopts = offsets_.adopts(agent);
  for (store::Position& position : offsets_.positions(agent))
    record.positions.push_back(
        {position.file, std::move(position.path), position.offset, position.lines});
  return record;
}

void StoreLedger::apply(receive::Ticket ticket, wire::Batch batch,
                        std::span<const std::byte> encoded) {
  // A batch behind a refused one must be refused, too: it would leave a gap.
  const auto failed = failed_.find(batch.agent);
  const TimeMs now = now_();
  const auto seq = failed == failed_.end()
                       ? store_.append(batch.job, batch.agent, encoded, now)
                       : Result<store::Seq>(std::unexpected(Error{"", "a batch before it failed"}));
  if (!seq) {
    ++refused_;
    failed_[batch.agent].push_back(ticket);
    return;
  }
  L4_CHECK(under_way_.empty() || under_way_.back().seq < *seq,
           "record {} of agent {} follows record {}", *seq, batch.agent, under_way_.back().seq);
  last_ = *seq;
  under_way_.push_back({*seq, ticket, batch.agent});
  taken_[batch.agent] = *seq;
  for (const wire::Coverage& part : batch.coverage) {
    counts_.lines += part.lines;
    counts_.log_bytes += part.bytes.to - part.bytes.from;
    counts_.lost_bytes += part.bytes_lost;
  }
  offsets_.commit(batch, now);
  deliver_(*seq, std::move(batch), now, encoded.size());
}

void StoreLedger::release(const std::string& agent, const std::vector<std::uint64_t>& files) {
  offsets_.release(agent, files);
  changed_ = true;
}

void StoreLedger::report_durable(receive::AgentServer& server) {
  if (patient_ && !under_way_.empty()) static_cast<void>(store_.flush());
  const store::Seq durable = store_.durable();
  while (!under_way_.empty() && under_way_.front().seq <= durable) {
    const UnderWay done = std::move(under_way_.front());
    under_way_.pop_front();
    const auto taken = taken_.find(done.agent);
    if (taken != taken_.end() && taken->second == done.seq) taken_.erase(taken);
    server.committed(done.ticket);
  }
  if (!failed_.empty() && accepting_) report_failed(server, durable);
}

void StoreLedger::report_failed(receive::AgentServer& server, store::Seq durable) {
  for (auto at = failed_.begin(); at != failed_.end();) {
    const auto taken = taken_.find(at->first);
    if (taken != taken_.end() && taken->second > durable) {
      ++at;
      continue;
    }
    const std::vector<receive::Ticket> tickets = std::move(at->second);
    at = failed_.erase(at);
    for (const receive::Ticket ticket : tickets) server.failed(ticket);
  }
}

std::optional<store::Seq> StoreLedger::load_offsets(std::span<const std::byte> saved,
                                                    store::OffsetTable& into) {
  ByteReader in(saved);
  const store::Seq last{in.number()};
  if (!in.ok() || !into.load(in.raw(in.left()))) return std::nullopt;
  return last;
}

bool StoreLedger::checkpoint(TimeMs now) {
  offsets_.expire(now);
  if (saved_ == last_ && !changed_) return true;
  ByteWriter out;
  out.number(last_.value());
  offsets_.save(out);
  if (!store_.checkpoint(store::Store::kOffsets, last_, std::move(out))) return false;
  saved_ = last_;
  changed_ = false;
  return true;
}

Result<void> StoreLedger::mirror() {
  return store_.database().mirror(offsets_, last_);
}

}  // namespace l4::intake
