// The smallest aggregator that can lose a line or count one twice: it adds up bytes.
//
// Four files of two agents belong to two jobs; a batch adds some bytes to its file. A job keeps the
// counted offset of each file and records an error for a batch that does not begin there. After a
// restart every job must agree with the offsets exactly. For tests of Store.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "aggregator/store/store.h"
#include "common/wire/codec/batch_codec.h"
#include "tests/aggregator/store/numbered.h"

namespace l4::store::test {

inline constexpr std::uint64_t kCountedFiles = 4;

class CountingAggregator : public Recoverer {
 public:
  /// The next batch of a file, `bytes` long.
  wire::Batch next(std::uint64_t file, std::uint64_t bytes) const {
    wire::Batch batch;
    batch.agent = file % 2 == 0 ? "node-a" : "node-b";
    batch.job = file < 2 ? "first" : "second";
    const std::uint64_t from = offset(file);
    wire::Coverage part;
    part.path = "file" + std::to_string(file);
    part.bytes = {from, from + bytes};
    part.lines = 1;
    part.file.key = file + 1;
    batch.coverage.push_back(part);
    return batch;
  }
  /// False if the store refuses it.
  bool take(Store& store, const wire::Batch& batch) {
    if (!follows(batch)) return false;
    const auto seq = store.append(batch.job, batch.agent, wire::encode(batch));
    if (!seq) return false;
    offsets_.commit(batch, at_ms(0));
    apply(batch);
    last_ = *seq;
    return true;
  }
  bool checkpoint(Store& store, const std::string& job) {
    ByteWriter out;
    for (const auto& [file, at] : jobs_[job]) {
      out.number(file);
      out.number(at);
    }
    return store.checkpoint(Store::job_name(job), last_, std::move(out));
  }
  bool checkpoint_offsets(Store& store) {
    ByteWriter out;
    offsets_.save(out);
    return store.checkpoint(Store::kOffsets, last_, std::move(out));
  }
  void close(Store& store, const std::string& job) {
    if (store.close_job(job, last_)) jobs_.erase(job);
  }

  void offsets(std::span<const std::byte> saved) override { CHECK(offsets_.load(saved)); }
  bool job(const std::string& id, std::span<const std::byte> saved) override {
    ByteReader in(saved);
    while (in.left() > 0) {
      const std::uint64_t file = in.number();
      jobs_[id][file] = in.number();
    }
    return in.ok();
  }
  void record(const Record& record, bool new_to_job, bool new_to_offsets) override {
    last_ = record.seq;
    const auto batch = wire::decode(record.batch);
    REQUIRE(batch);
    CHECK(batch->job == record.job);
    CHECK(batch->agent == record.agent);
    if (new_to_offsets) {
      if (!follows(*batch)) ++wrong_;
      offsets_.commit(*batch, at_ms(0));
    }
    if (new_to_job) apply(*batch);
  }

  std::uint64_t offset(std::uint64_t file) const {
    for (const Position& at : offsets_.positions(file % 2 == 0 ? "node-a" : "node-b"))
      if (at.file.key == file + 1) return at.offset;
    return 0;
  }
  std::uint64_t counted(std::uint64_t file) const {
    const auto job = jobs_.find(file < 2 ? "first" : "second");
    if (job == jobs_.end()) return 0;
    const auto at = job->second.find(file);
    return at == job->second.end() ? 0 : at->second;
  }
  /// Batches that did not begin at the counted offset.
  int wrong() const { return wrong_; }
  Seq last() const { return last_; }

 private:
  /// True if the batch continues at the counted offsets.
  bool follows(const wire::Batch& batch) const {
    for (const wire::Coverage& part : batch.coverage)
      if (part.bytes.from != offset(part.file.key - 1)) return false;
    return true;
  }
  void apply(const wire::Batch& batch) {
    for (const wire::Coverage& part : batch.coverage) {
      const auto [at, created] = jobs_[batch.job].try_emplace(part.file.key - 1, part.bytes.from);
      if (at->second != part.bytes.from) ++wrong_;
      at->second = part.bytes.to;
    }
  }

  OffsetTable offsets_;
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>> jobs_;
  Seq last_;
  int wrong_ = 0;
};

}  // namespace l4::store::test
