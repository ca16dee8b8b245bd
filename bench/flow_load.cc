// What flow records cost where there are many: time and memory of whole traces, of 100,000
// connections, of forged sources, and IPFIX over loopback into one core of the collector. Prints
// "name value" lines; tools/acceptance flows compares them with what is asked.
//
// usage: l4_flow_load records FLOWS TOPOLOGY...   decoded records to the report, ns a record
//        l4_flow_load memory                      bytes a connection, beside the kept rows
//        l4_flow_load forged [MILLIONS]           sources that come once each; 10
//        l4_flow_load udp [SECONDS] [MIB]         500,000 records/s; 40 s, socket buffer of 64 MiB
#include <arpa/inet.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "aggregator/collect/collector.h"
#include "aggregator/flows/decode/flow_files.h"
#include "aggregator/flows/decode/topology_file.h"
#include "bench/thread_time.h"

namespace {

using namespace l4;
using flows::Address;
using flows::FlowRecord;
using flows::kMillisecond;
using flows::kSecond;
using flows::TimeNs;

// 10,000 cards with ten connections each; 1,250 servers, eight to a job.
constexpr unsigned kServers = 1'250, kRails = 8, kConnections = 10, kJobServers = 8;
constexpr unsigned kStreams = kServers * kRails * kConnections;
// Five records a second and connection: 500,000 in all.
constexpr unsigned kBuckets = 10;
constexpr TimeNs kPeriod = 2 * kSecond;
constexpr std::uint64_t kBytes = 20'000'000;
constexpr unsigned kPerMessage = 30;  // 1,370 bytes: what goes into a frame of Ethernet

using bench::used;

double resident_bytes(std::string_view row = "VmRSS:") {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (double kib = 0; word == row && file >> kib) return kib * 1024;
  return 0;
}

void tell(std::string_view name, double value) {
  fmt::print("{:32} {:.6g}\n", name, value);
  std::fflush(stdout);
}

flows::Topology made_topology() {
  flows::Topology topology;
  for (unsigned server = 0; server < kServers; ++server) {
    const auto index = topology.add_server(fmt::format("node-{}", server));
    for (unsigned rail = 0; rail < kRails; ++rail)
      topology.add_card(Address::of_ipv4(10u << 24 | rail << 16 | server),
                        {fmt::format("mlx5_{}", rail), index, fmt::format("leaf-{}", rail)});
  }
  return topology;
}

/// The records of one period in the order of their ends, from time zero on. Jobs are rings, one
/// for each rail and connection; each begins its steps at another moment.
std::vector<FlowRecord> period_of_rings() {
  std::vector<FlowRecord> all;
  all.reserve(std::size_t{kStreams} * kBuckets);
  for (unsigned server = 0; server < kServers; ++server) {
    const unsigned job = server / kJobServers, first = job * kJobServers;
    const unsigned size = std::min(kJobServers, kServers - first);
    const TimeNs begin = kPeriod * job / (kServers / kJobServers + 1);
    for (unsigned line = 0; line < kRails * kConnections; ++line)
      for (unsigned bucket = 0; bucket < kBuckets; ++bucket) {
        FlowRecord record;
        record.end = (begin + (bucket + 1) * 50 * kMillisecond) % kPeriod + line * 1'000;
        record.start = record.end - 10 * kMillisecond;
        record.src = Address::of_ipv4(10u << 24 | line % kRails << 16 | server);
        record.dst =
            Address::of_ipv4(10u << 24 | line % kRails << 16 | (first + (server + 1) % size));
        record.src_port = static_cast<std::uint16_t>(50'000 + line / kRails);
        record.dst_port = flows::kRocePort;
        record.protocol = 17;
        record.bytes = kBytes;
        record.packets = kBytes / 4096;
        all.push_back(record);
      }
  }
  std::ranges::stable_sort(all, {}, &FlowRecord::end);
  return all;
}

// ---- records of files -----------------------------------------------------------------------

int measure_records(int count, char** words) {
  double seconds = 0, records = 0;
  for (int i = 0; i + 1 < count; i += 2) {
    auto files = flows::decode::find_flow_files({words[i]});
    const auto topology = flows::decode::read_topology(words[i + 1]);
    if (!files || !topology) {
      fmt::print(stderr, "{}\n", (files ? topology.error() : files.error()).text());
      return 2;
    }
    std::vector<FlowRecord> all;
    if (const auto read = flows::decode::read_flows(
            *files, [&](const FlowRecord& record) { all.push_back(record); });
        !read) {
      fmt::print(stderr, "{}\n", read.error().text());
      return 2;
    }
    const double begin = used();
    flows::Analyser analyser(*topology, {});
    for (const FlowRecord& record : all) analyser.add(record);
    const auto report = analyser.finish();
    const double own = used() - begin;
    fmt::print("{}: {} records, {} jobs, {:.0f} ns a record\n", words[i], all.size(),
               report.jobs.size(), own * 1e9 / static_cast<double>(all.size()));
    seconds += own;
    records += static_cast<double>(all.size());
  }
  tell("records", records);
  tell("ns_a_record", seconds * 1e9 / std::max(1.0, records));
  return 0;
}

// ---- memory ---------------------------------------------------------------------------------

int measure_memory() {
  constexpr int kFollowed = 112;  // then as many steps are kept of each job as ever will be
  const flows::Topology topology = made_topology();
  auto period = period_of_rings();
  constexpr std::size_t kRows = 8 * std::size_t{kStreams} * kBuckets;
  const double before = resident_bytes();
  flows::Analyser analyser(topology, {{}, kRows, collect::FlowCollector::kKept});
  const auto add_period = [&] {
    for (FlowRecord& record : period) {
      analyser.add(record);
      record.start += kPeriod;
      record.end += kPeriod;
    }
  };
  for (FlowRecord& record : period) {
    record.start += 1'760'000'000 * kSecond;
    record.end += 1'760'000'000 * kSecond;
  }
  double begin = used();
  for (int i = 0; i < 8; ++i) add_period();  // the last record fills the rows: jobs are learned
  tell("learn_ns_a_record", (used() - begin) * 1e9 / kRows);
  begin = used();
  for (int i = 0; i < kFollowed; ++i) add_period();
  tell("follow_ns_a_record", (used() - begin) * 1e9 / (kFollowed * kRows / 8));
  ::malloc_trim(0);  // what learning took for a while is not kept
  const auto counts = analyser.counts();
  tell("connections", static_cast<double>(counts.streams));
  tell("jobs", static_cast<double>(counts.jobs));
  const double all = resident_bytes() - before, rows = sizeof(flows::Row) * kRows;
  tell("rows_mb", rows / 1e6);
  tell("resident_mb", all / 1e6);
  tell("table_bytes_a_connection",
       static_cast<double>(counts.table_bytes) / static_cast<double>(counts.streams));
  tell("bytes_a_connection", (all - rows) / static_cast<double>(counts.streams));
  return 0;
}

int measure_forged(double millions) {
  const flows::Topology topology;  // not known: any end of RDMA counts
  flows::Analyser analyser(topology, {{}, 1'000'000});
  const auto all = static_cast<std::uint32_t>(millions * 1e6);
  FlowRecord record;
  record.dst = Address::of_ipv4(10u << 24 | 1);
  record.dst_port = flows::kRocePort;
  record.protocol = 17;
  record.bytes = 2'000'000;  // too much to be taken for chatter that makes room
  record.packets = 500;
  const double begin = used();
  for (std::uint32_t i = 0; i < all; ++i) {
    record.start = 1'760'000'000 * kSecond + i * TimeNs{1'000};
    record.end = record.start + kMillisecond;
    record.src = Address::of_ipv4(i * 2'654'435'761u);
    analyser.add(record);
  }
  const auto report = analyser.finish();
  tell("forged_sources", static_cast<double>(all));
  tell("ns_a_record", (used() - begin) * 1e9 / static_cast<double>(all));
  tell("connections", static_cast<double>(report.streams));
  tell("cards", static_cast<double>(report.cards));
  tell("jobs", static_cast<double>(report.jobs.size()));
  tell("peak_mb", resident_bytes("VmHWM:") / 1e6);
  return 0;
}

// ---- loopback -------------------------------------------------------------------------------

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int at = bytes; at-- > 0;) to.push_back(static_cast<char>(value >> 8 * at));
}

void put_at(std::string& in, std::size_t at, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    in[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * (bytes - 1 - i));
}

constexpr std::size_t kHead = 16, kSequenceAt = 8, kRecordBytes = 45, kTimesAt = 29;

struct Message {
  std::string bytes;
  TimeNs last = 0;  ///< end of its last record, from the begin of the period on
  std::vector<TimeNs> starts, ends;
};

std::string message_head(std::uint32_t sequence) {
  std::string head;
  put(head, 10, 2);
  put(head, 0, 2);  // its length
  put(head, 1'760'000'000, 4);
  put(head, sequence, 4);
  put(head, 1, 4);
  return head;
}

void set_length(std::string& message) {
  put_at(message, 2, message.size(), 2);
}

std::string template_message() {
  constexpr std::array<std::array<int, 2>, 9> kFields{
      {{8, 4}, {12, 4}, {7, 2}, {11, 2}, {4, 1}, {1, 8}, {2, 8}, {152, 8}, {153, 8}}};
  std::string message = message_head(0);
  put(message, 2, 2);
  put(message, 8 + 4 * kFields.size(), 2);
  put(message, 256, 2);
  put(message, kFields.size(), 2);
  for (const auto& [id, bytes] : kFields) {
    put(message, static_cast<std::uint64_t>(id), 2);
    put(message, static_cast<std::uint64_t>(bytes), 2);
  }
  set_length(message);
  return message;
}

/// Of one period; its times and numbers are written when it is sent.
std::vector<Message> encoded(const std::vector<FlowRecord>& records) {
  std::vector<Message> all;
  for (std::size_t at = 0; at < records.size(); at += kPerMessage) {
    const std::size_t count = std::min<std::size_t>(kPerMessage, records.size() - at);
    Message& made = all.emplace_back();
    made.bytes = message_head(0);
    put(made.bytes, 256, 2);
    put(made.bytes, 4 + count * kRecordBytes, 2);
    for (std::size_t i = at; i < at + count; ++i) {
      const FlowRecord& record = records[i];
      put(made.bytes, record.src.low & 0xffffffff, 4);
      put(made.bytes, record.dst.low & 0xffffffff, 4);
      put(made.bytes, record.src_port, 2);
      put(made.bytes, record.dst_port, 2);
      put(made.bytes, record.protocol, 1);
      put(made.bytes, record.bytes, 8);
      put(made.bytes, record.packets, 8);
      put(made.bytes, 0, 8);
      put(made.bytes, 0, 8);
      made.starts.push_back(record.start);
      made.ends.push_back(record.end);
    }
    made.last = records[at + count - 1].end;
    set_length(made.bytes);
  }
  return all;
}

TimeNs wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void stay_on(std::size_t core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  static_cast<void>(::sched_setaffinity(0, sizeof cores, &cores));
}

/// A process of its own: sends each message when its last record ends. What it sent, to `told`.
[[noreturn]] void send_all(std::uint16_t port, double seconds, int told) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto messages = encoded(period_of_rings());
  const Descriptor out(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(out.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) _exit(1);
  const std::string form = template_message();
  if (::send(out.number(), form.data(), form.size(), 0) < 0) _exit(1);
  const TimeNs begin = wall_ns();
  const auto until = begin + static_cast<TimeNs>(seconds * 1e9);
  std::uint64_t sent = 0;
  for (TimeNs origin = begin; origin < until; origin += kPeriod)
    for (Message& message : messages) {
      for (TimeNs now = wall_ns(); now < origin + message.last; now = wall_ns())
        if (origin + message.last - now > kMillisecond)
          std::this_thread::sleep_for(std::chrono::nanoseconds{kMillisecond / 2});
      put_at(message.bytes, kSequenceAt, sent & 0xffffffff, 4);
      for (std::size_t i = 0; i < message.ends.size(); ++i) {
        const std::size_t at = kHead + 4 + i * kRecordBytes + kTimesAt;
        put_at(message.bytes, at,
               static_cast<std::uint64_t>((origin + message.starts[i]) / kMillisecond), 8);
        put_at(message.bytes, at + 8,
               static_cast<std::uint64_t>((origin + message.ends[i]) / kMillisecond), 8);
      }
      if (::send(out.number(), message.bytes.data(), message.bytes.size(), 0) > 0)
        sent += message.ends.size();
    }
  const auto took = static_cast<double>(wall_ns() - begin) / 1e9;
  const std::array<double, 2> all{static_cast<double>(sent), took};
  static_cast<void>(::write(told, all.data(), sizeof all));
  _exit(0);
}

void write_topology(const std::string& file) {
  std::ofstream topology(file);
  topology << "{\"servers\": [";
  for (unsigned server = 0; server < kServers; ++server) {
    topology << (server == 0 ? "" : ",")
             << fmt::format("{{\"server\":\"node-{}\",\"nics\":[", server);
    for (unsigned rail = 0; rail < kRails; ++rail)
      topology << (rail == 0 ? "" : ",")
               << fmt::format(
                      "{{\"nic\":\"mlx5_{}\",\"address\":\"10.{}.{}.{}\",\"leaf\":\"l{}\"}}", rail,
                      rail, server / 256, server % 256, rail);
    topology << "]}";
  }
  topology << "]}";
}

int measure_udp(double seconds, std::size_t mib) {
  const auto file = fmt::format("/tmp/l4-flow-load-{}.json", ::getpid());
  write_topology(file);
  collect::CollectOptions options;
  options.listen = "127.0.0.1:0";
  options.topology = file;
  options.buffer_bytes = mib << 20;
  options.rows_max = 8'000'000;
  options.learn_every = Millis{10'000};
  const auto say = [](const std::string& text) { fmt::print("{}\n", text); };
  auto collector = collect::FlowCollector::open(
      options,
      {[] { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }, say, say});
  std::remove(file.c_str());
  if (!collector) {
    fmt::print(stderr, "{}\n", collector.error().text());
    return 2;
  }
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return 2;
  const pid_t sender = ::fork();
  if (sender == 0) {
    stay_on(1);
    send_all((*collector)->port(), seconds, pipe[1]);
  }
  stay_on(0);
  double longest = 0;
  const double begin = used();
  int status = 0;
  for (bool is_over = false; !is_over;) {
    is_over = ::waitpid(sender, &status, WNOHANG) != 0;
    const double before = used();
    (*collector)->step(Millis{100});
    longest = std::max(longest, used() - before);
  }
  for (int i = 0; i < 20; ++i) (*collector)->step(Millis{10});
  const double busy = used() - begin;
  std::array<double, 2> sent{};
  if (::read(pipe[0], sent.data(), sizeof sent) != sizeof sent) return 2;
  const auto counts = (*collector)->counts();
  tell("records_sent", sent[0]);
  tell("records_a_second", sent[0] / sent[1]);
  tell("records_taken", static_cast<double>(counts.flows.records));
  tell("records_lost", sent[0] - static_cast<double>(counts.flows.records));
  tell("datagrams_dropped", static_cast<double>(counts.dropped));
  tell("bad", static_cast<double>(counts.bad + counts.unknown + counts.ahead));
  tell("socket_buffer_mib", static_cast<double>(counts.buffer_bytes) / (1 << 20));
  tell("busy_share_of_core", busy / sent[1]);
  tell("longest_turn_s", longest);
  tell("connections", static_cast<double>(counts.flows.streams));
  tell("jobs", static_cast<double>(counts.flows.jobs));
  tell("findings", static_cast<double>(counts.flows.findings));
  tell("peak_mb", resident_bytes("VmHWM:") / 1e6);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  const auto number = [&](int at, double usual) {
    return count > at ? std::atof(words[at]) : usual;
  };
  if (what == "records" && count > 3) return measure_records(count - 2, words + 2);
  if (what == "memory") return measure_memory();
  if (what == "forged") return measure_forged(number(2, 10));
  if (what == "udp") return measure_udp(number(2, 40), static_cast<std::size_t>(number(3, 64)));
  std::fprintf(stderr,
               "usage: l4_flow_load records FLOWS TOPOLOGY... | memory | forged [MILLIONS] | "
               "udp [SECONDS] [MIB]\n");
  return 2;
}
