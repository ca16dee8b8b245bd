// l4_count_server: the smallest aggregator, for tests of agents and of the wire. It counts each
// line that arrives exactly once, and prints the counts.
//
//   l4_count_server --keys FOLDER [--endpoint tcp://127.0.0.1:*] [--ledger FILE] [--slow MS]
//
// FOLDER is made by `l4 keys`. Prints one JSON object per line: the first has the endpoint, the
// next ones follow when counts change (at most five a second) and when an agent connects or leaves.
// With --ledger the counts survive: the file is written before a batch is acknowledged. --slow
// delays the acknowledgements. Ends on SIGTERM, or when its standard input ends.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "aggregator/receive/agent_server.h"
#include "common/wire/zmq/zmq_server.h"

namespace {

using namespace l4;
using Json = nlohmann::ordered_json;

volatile std::sig_atomic_t g_stop = 0;

wire::Instant now() {
  using namespace std::chrono;
  return {duration_cast<Millis>(steady_clock::now().time_since_epoch()),
          time_point_cast<Millis>(system_clock::now())};
}

/// The counts of one agent.
struct Agent {
  std::uint64_t incarnation = 0, last_sequence = 0;
  std::map<std::uint64_t, wire::Position> files;
  std::map<std::string, std::uint64_t> lines_of_path;  ///< covered lines, released files included
};

class Counter : public receive::Ledger, public receive::Observer {
 public:
  explicit Counter(std::filesystem::path file) : file_(std::move(file)) { load(); }

  receive::AgentRecord load(const std::string& name) override {
    const Agent& agent = agents_[name];
    receive::AgentRecord record{agent.incarnation, agent.last_sequence, {}};
    for (const auto& [key, position] : agent.files) record.positions.push_back(position);
    return record;
  }

  void apply(receive::Ticket ticket, wire::Batch batch, std::span<const std::byte> bytes) override {
    Agent& agent = agents_[batch.agent];
    if (agent.incarnation != batch.incarnation) {
      inherited_.erase(batch.agent);
      templates_[batch.agent].clear();
      sources_[batch.agent].clear();
    }
    agent.incarnation = batch.incarnation;
    agent.last_sequence = batch.sequence;
    ++batches_;
    wire_bytes_ += bytes.size();
    define(batch);
    std::map<std::uint64_t, std::uint64_t> covered;
    for (const wire::Coverage& part : batch.coverage) {
      wire::Position& position = agent.files[part.file.key];
      if (position.offset != part.bytes.from) wrong("a gap in " + part.path);
      position.file = part.file;
      position.path = part.path;
      position.offset = part.bytes.to;
      position.lines += part.lines;
      agent.lines_of_path[part.path] += part.lines;
      bytes_ += part.bytes.to - part.bytes.from;
    }
    count(batch);
    for (const wire::ProcessFact& fact : batch.processes)
      processes_[std::to_string(fact.pid.value())] = {
          {"job", batch.job},
          {"rank", fact.rank ? fact.rank->value() : -1},
          {"world_size", fact.world_size.value_or(0)},
          {"state", std::string(1, wire::letter(fact.state))},
          {"exit", wire::text(fact.exit)}};
    for (const wire::Warning& warning : batch.warnings) {
      ++warnings_[warning.kind];
      if (warning.kind == "lost") lost_ += warning.bytes;
    }
    waiting_.push_back({ticket, now().steady});
    changed_ = true;
  }

  void release(const std::string& agent, const std::vector<std::uint64_t>& files) override {
    for (const std::uint64_t key : files) agents_[agent].files.erase(key);
    changed_ = true;
  }

  void event(const receive::AgentEvent& event) override {
    constexpr const char* kKinds[] = {"hello", "left",  "lost",    "back",       "behind",
                                      "level", "blind", "sighted", "name_twice", "away"};
    say({{"event", kKinds[static_cast<std::size_t>(event.kind)]}, {"agent", event.agent}});
  }
  void notice(const std::string& text) override { say({{"notice", text}}); }
  void answered(const std::string& agent, const wire::Answer& answer) override {
    say({{"answer", answer.topic}, {"agent", agent}});
  }

  /// Writes the ledger, then acknowledges the batches that have waited long enough.
  void commit(receive::AgentServer& server, Millis slow) {
    if (waiting_.empty()) return;
    if (changed_) save();
    while (!waiting_.empty() && now().steady - waiting_.front().second >= slow) {
      server.committed(waiting_.front().first);
      waiting_.pop_front();
    }
  }

  void report() {
    if (!changed_ || now().steady - said_at_ < Millis{200}) return;
    changed_ = false;
    said_at_ = now().steady;
    say(all());
  }

  static void say(const Json& json) { std::cout << json.dump() << std::endl; }

  Json all() const {
    Json json;
    json["batches"] = batches_;
    json["bytes"] = bytes_;
    json["wire_bytes"] = wire_bytes_;
    json["lost"] = lost_;
    json["events"] = events_;
    json["wrong"] = wrong_;
    json["warnings"] = warnings_;
    std::uint64_t lines = 0;
    for (const auto& [name, agent] : agents_) {
      for (const auto& [path, count] : agent.lines_of_path) lines += count;
      Json& files = json["files"][name];
      for (const auto& [key, position] : agent.files)
        files[position.path] = {{"offset", position.offset}, {"lines", position.lines}};
    }
    json["lines"] = lines;
    json["jobs"] = jobs_;
    json["sources"] = described_;
    json["processes"] = processes_;
    json["texts"] = texts_;
    return json;
  }

 private:
  void define(const wire::Batch& batch) {
    auto& templates = templates_[batch.agent][batch.job];
    for (const wire::TemplateDefinition& definition : batch.templates) {
      templates.insert(definition.id);
      if (texts_.size() < 1000) texts_.insert(definition.text);
    }
    for (const wire::SourceDefinition& source : batch.sources) {
      sources_[batch.agent][batch.job].insert(source.id);
      described_[batch.job + " " + source.node + " " + source.path] =
          source.rank ? source.rank->value() : -1;
    }
  }

  void count(const wire::Batch& batch) {
    const bool known = !inherited_.contains(batch.agent);
    for (const wire::Segment& segment : batch.segments) {
      if (known && !sources_[batch.agent][batch.job].contains(segment.source))
        wrong("a source undefined");
      for (const wire::EventCount& event : segment.events) {
        events_ += event.count;
        jobs_[batch.job] += event.count;
        if (known && !templates_[batch.agent][batch.job].contains(event.id))
          wrong("a template undefined");
      }
    }
  }

  void wrong(const std::string& what) {
    if (wrong_.size() < 20) wrong_.push_back(what);
  }

  void save() const {
    if (file_.empty()) return;
    Json json{{"events", events_}, {"bytes", bytes_}, {"lost", lost_}, {"jobs", jobs_}};
    for (const auto& [name, agent] : agents_) {
      Json& one = json["agents"][name];
      one = {{"incarnation", agent.incarnation},
             {"sequence", agent.last_sequence},
             {"lines", agent.lines_of_path},
             {"files", Json::array()}};
      for (const auto& [key, p] : agent.files)
        one["files"].push_back({key, p.file.device, p.file.inode, p.file.fingerprint,
                                p.file.fingerprint_bytes, p.path, p.offset, p.lines});
    }
    const std::filesystem::path beside = file_.string() + ".new";
    std::ofstream(beside) << json.dump();
    std::filesystem::rename(beside, file_);
  }

  void load() {
    if (file_.empty() || !std::filesystem::exists(file_)) return;
    const Json json = Json::parse(std::ifstream(file_));
    events_ = json["events"];
    bytes_ = json["bytes"];
    lost_ = json["lost"];
    json["jobs"].get_to(jobs_);
    if (!json.contains("agents")) return;
    for (const auto& [name, one] : json["agents"].items()) {
      Agent& agent = agents_[name];
      agent.incarnation = one["incarnation"];
      inherited_.insert(name);
      agent.last_sequence = one["sequence"];
      one["lines"].get_to(agent.lines_of_path);
      for (const auto& row : one["files"])
        agent.files[row[0]] = {{row[0], row[1], row[2], row[3], row[4]}, row[5], row[6], row[7]};
    }
  }

  std::filesystem::path file_;
  std::map<std::string, Agent> agents_;
  std::map<std::string, std::map<std::string, std::set<LocalTemplateId>>> templates_;
  std::map<std::string, std::map<std::string, std::set<SourceId>>> sources_;
  std::map<std::string, std::uint64_t> jobs_, warnings_;
  std::map<std::string, std::int32_t> described_;
  std::map<std::string, Json> processes_;  ///< by pid, as last reported
  std::set<std::string> texts_;
  std::set<std::string> inherited_;  ///< agents whose definitions went to a former server
  std::vector<std::string> wrong_;
  std::uint64_t batches_ = 0, bytes_ = 0, wire_bytes_ = 0, events_ = 0, lost_ = 0;
  std::deque<std::pair<receive::Ticket, Millis>> waiting_;
  bool changed_ = false;
  Millis said_at_{0};
};

int serve(const std::filesystem::path& keys, const std::string& endpoint,
          const std::filesystem::path& ledger, Millis slow, Millis heartbeat) {
  const auto key = wire::load_server_key(keys / "aggregator.key");
  if (!key) return fmt::print(stderr, "{}\n", key.error().text()), 2;
  wire::ZmqServerOptions port_options;
  port_options.endpoint = endpoint;
  port_options.key = *key;
  port_options.allow_list = keys / "allow-list";
  auto port = wire::ZmqServer::make(std::make_shared<wire::ZmqContext>(), port_options);
  if (!port) return fmt::print(stderr, "{}\n", port.error().text()), 2;
  Counter counter(ledger);
  receive::ServerOptions options;
  options.incarnation = static_cast<std::uint64_t>(now().wall.time_since_epoch().count());
  options.software = "l4_count_server";
  options.heartbeat = heartbeat;
  receive::AgentServer server(options, **port, counter, counter, now());
  Counter::say({{"endpoint", (*port)->endpoint()}});
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (g_stop == 0) {
    (*port)->wait(std::min(server.step(now()), Millis{20}));
    counter.commit(server, slow);
    counter.report();
    char drop[256];
    if (::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, drop, sizeof drop) <= 0) break;
  }
  server.stop();
  Counter::say(counter.all());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::filesystem::path keys, ledger;
  std::string endpoint = "tcp://127.0.0.1:*";
  std::int64_t slow = 0, heartbeat = 500;
  CLI::App app{"Counts what agents ship.", "l4_count_server"};
  app.add_option("--keys", keys, "folder of `l4 keys`")->required();
  app.add_option("--endpoint", endpoint, "where to listen");
  app.add_option("--ledger", ledger, "file that keeps what is counted");
  app.add_option("--slow", slow, "acknowledge so many milliseconds later");
  app.add_option("--heartbeat-ms", heartbeat, "what agents are told");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGTERM, [](int) { g_stop = 1; });
  return serve(keys, endpoint, ledger, Millis{slow}, Millis{heartbeat});
}
