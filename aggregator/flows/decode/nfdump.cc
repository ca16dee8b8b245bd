#include "aggregator/flows/decode/nfdump.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "aggregator/flows/decode/numbers.h"
#include "aggregator/flows/decode/samples.h"

extern char** environ;

namespace l4::flows::decode {
namespace {

std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t\n"));
  rest.remove_prefix(word.size());
  return word;
}

/// Seconds with up to nine decimals.
bool read_time(std::string_view text, TimeNs& to) {
  const std::size_t point = std::min(text.find('.'), text.size());
  TimeNs seconds = 0, fraction = 0;
  if (!read_number(text.substr(0, point), seconds) || seconds < 0 || seconds > 1LL << 33)
    return false;
  std::string decimals(text.substr(std::min(point + 1, text.size())));
  decimals.resize(9, '0');
  if (!read_number(std::string_view(decimals), fraction) || fraction < 0) return false;
  to = seconds * kSecond + fraction;
  return true;
}

bool read_protocol(std::string_view text, std::uint8_t& to) {
  if (text == "UDP") to = 17;
  if (text == "TCP") to = 6;
  return text == "UDP" || text == "TCP" || read_number(text, to);
}

bool read_address(std::string_view text, Address& to) {
  const auto address = parse_address(text);
  if (address) to = *address;
  return address.has_value();
}

/// A child whose standard output is read.
class Pipe {
 public:
  ~Pipe() {
    if (out_ != nullptr) std::fclose(out_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  /// 0, or an errno.
  int start(std::vector<std::string> words) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), 0) != 0) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failed =
        posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed != 0) {
      pid_ = -1;
      close(ends[0]);
      return failed;
    }
    out_ = fdopen(ends[0], "r");
    return out_ == nullptr ? errno : 0;
  }
  std::FILE* out() { return out_; }
  /// Exit status; -1 if a signal ended it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  std::FILE* out_ = nullptr;
};

}  // namespace

bool parse_nfdump_line(std::string_view line, FlowRecord& record) {
  TimeNs lasted = 0;
  const bool is_line =
      read_time(next_word(line), record.start) && read_time(next_word(line), lasted) &&
      read_address(next_word(line), record.src) && read_address(next_word(line), record.dst) &&
      read_number(next_word(line), record.src_port) &&
      read_number(next_word(line), record.dst_port) &&
      read_protocol(next_word(line), record.protocol) &&
      read_number(next_word(line), record.bytes) && read_number(next_word(line), record.packets);
  // Each is a time that fits, and their sum need not.
  if (!is_line || __builtin_add_overflow(record.start, lasted, &record.end)) return false;
  return why_unusable(record).empty();
}

Result<void> read_nfcapd(const std::filesystem::path& file, Counts& counts,
                         ExporterSettings& announced, const Sink& sink) {
  Pipe nfdump;
  if (const int failed = nfdump.start({"nfdump", "-r", file.string(), "-q", "-N", "-6", "-o",
                                       "fmt:%tsr %td %sa %da %sp %dp %pr %byt %pkt"});
      failed != 0)
    return std::unexpected(
        Error{file.string(), failed == ENOENT
                                 ? "is read by nfdump, which is not installed (Debian: nfdump)"
                                 : fmt::format("nfdump: {}", std::strerror(failed))});
  Samples samples(sink);
  char* line = nullptr;
  std::size_t room = 0;
  std::uint64_t number = 0;
  for (ssize_t size = 0; (size = getline(&line, &room, nfdump.out())) > 0;) {
    ++number;
    FlowRecord record;
    const std::string_view text(line, static_cast<std::size_t>(size));
    if (text.find_first_not_of(" \n") == text.npos) continue;
    if (parse_nfdump_line(text, record)) {
      ++counts.records;
      samples.add(record);
    } else {
      counts.complain(fmt::format("{}, record {}", file.string(), number),
                      fmt::format("'{}' cannot be read", text.substr(0, 80)));
    }
  }
  std::free(line);
  samples.finish();
  if (samples.rate() > 0) {
    announced.sampling = std::max(announced.sampling, samples.rate());
    announced.inactive = Samples::kGap;
    announced.active = Samples::kLongest;
  }
  if (const int status = nfdump.wait(); status != 0)
    return std::unexpected(
        Error{file.string(), fmt::format("nfdump ended with status {}", status)});
  return {};
}

}  // namespace l4::flows::decode
