// l4_state_counts: prints the counts in the state folder of a stopped aggregator as JSON.
//
//   l4_state_counts FOLDER
//
// Reads checkpoints and journal like a starting aggregator. Prints for each job its sources with
// their lines and the count of each template, its files with their covered and lost bytes, and the
// sum of the warnings. For tests that count.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "aggregator/scoring/live_job.h"
#include "common/wire/codec/batch_codec.h"

namespace {

using namespace l4;
using Json = nlohmann::ordered_json;

TimeMs now() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

class Jobs : public store::Recoverer {
 public:
  void offsets(std::span<const std::byte>) override {}
  bool job(const std::string& id, std::span<const std::byte> saved) override {
    auto job = std::make_unique<scoring::LiveJob>(id, scoring::JobOptions{}, now());
    if (!job->load(saved)) return false;
    jobs_[id] = std::move(job);
    return true;
  }
  void record(const store::Record& record, bool new_to_job, bool) override {
    auto batch = wire::decode(record.batch);
    if (!batch) ++unreadable_;
    if (!batch || !new_to_job) return;
    auto& job = jobs_[batch->job];
    if (!job) job = std::make_unique<scoring::LiveJob>(batch->job, scoring::JobOptions{}, now());
    job->apply(std::move(*batch), record.seq, record.time);
  }

  Json all() const {
    Json json{{"unreadable", unreadable_}, {"jobs", Json::object()}};
    for (const auto& [id, job] : jobs_) json["jobs"][id] = told(*job);
    return json;
  }

 private:
  static Json told(const scoring::LiveJob& job) {
    const job::JobState& state = job.state();
    Json json{{"refused", job.refused()}, {"left_out", job.left_out()}};
    for (const auto& [name, agent] : state.agents())
      for (const auto& [id, stream] : agent.streams) {
        Json events = Json::object();
        for (const auto& [local, stats] : stream.events) {
          const TemplateId event =
              state.templates().resolve(agent.node_index, LocalTemplateId{local});
          auto& count = events[state.templates().text(event)];
          count = (count.is_null() ? 0 : count.get<std::uint64_t>()) + std::uint64_t{stats.count};
        }
        json["sources"].push_back({{"agent", name},
                                   {"path", stream.source.path},
                                   {"rank", stream.source.rank ? stream.source.rank->value() : -1},
                                   {"lines", stream.lines},
                                   {"events", events}});
      }
    for (const wire::Coverage& part : state.coverage())
      json["files"].push_back({{"path", part.path},
                               {"from", part.bytes.from},
                               {"to", part.bytes.to},
                               {"lines", part.lines},
                               {"known", part.bytes_known},
                               {"lost", part.bytes_lost}});
    std::map<std::string, Json> warnings;
    for (const wire::Warning& warning : state.warnings()) {
      Json& row = warnings[warning.kind + ": " + warning.reason];
      if (row.is_null()) row = {{"times", 0}, {"bytes", 0}};
      row["times"] = row["times"].get<std::uint64_t>() + 1;
      row["bytes"] = row["bytes"].get<std::uint64_t>() + warning.bytes;
    }
    json["warnings"] = warnings;
    return json;
  }

  std::map<std::string, std::unique_ptr<scoring::LiveJob>> jobs_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  CLI::App app{"Says what an aggregator has counted.", "l4_state_counts"};
  app.add_option("folder", folder, "state folder of an aggregator that does not run")->required();
  CLI11_PARSE(app, argc, argv);
  store::StoreOptions options;
  options.folder = folder;
  auto store = store::Store::open(options, {}, now);
  if (!store) {
    std::cerr << store.error().text() << "\n";
    return 2;
  }
  Jobs jobs;
  (*store)->recover(jobs);
  std::cout << jobs.all().dump() << "\n";
  return 0;
}
