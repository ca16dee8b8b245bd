#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>

#include "agent/decode/decoder.h"
#include "agent/discover/file_reader.h"
#include "aggregator/serve/utf8.h"
#include "common/drain/mask.h"
#include "common/parameters/parameters.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/faults/json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::faults {
namespace {

/// Reads inputs as an agent does, matches each record against the library as a diagnosis does, and
/// writes each match at once.
class Matcher {
 public:
  Matcher(const FaultsOptions& options, const offline::Settings& settings,
          const l4::faults::Library& library)
      : options_(options),
        settings_(settings),
        library_(library),
        codes_(settings.codes ? *settings.codes : drain::default_codes()),
        named_(options.files.size() + (options.lines.empty() ? 0 : 1) > 1) {}

  void begin() {
    if (json()) std::cout << "{\"schema\": \"l4.fault_matches/1\",\n \"matches\": [";
  }

  /// `read` fills a buffer and returns the number of bytes; 0 at the end.
  template <class Read>
  Result<void> input(const std::string& name, Read read) {
    decode::Decoder decoder(settings_.agent.decode,
                            [&](const decode::Record& record) { ingest(name, record); });
    Result<std::size_t> bytes = 0;
    while ((bytes = read(std::span(buffer_))) && *bytes > 0) decoder.feed({buffer_.data(), *bytes});
    decoder.finish();
    lines_ += decoder.stats().lines;
    if (!bytes) return std::unexpected(bytes.error());
    return {};
  }

  void end() {
    std::vector<std::pair<const l4::faults::Fault*, std::size_t>> counts(counts_.begin(),
                                                                         counts_.end());
    std::ranges::sort(counts, [](const auto& a, const auto& b) {
      return std::pair(b.second, a.first) < std::pair(a.second, b.first);
    });
    if (json()) {
      std::cout << fmt::format(
          "{}],\n \"lines\": {}, \"lines_with_fault\": {},\n \"counts\": {}}}\n",
          first_ ? "" : "\n ", lines_, shown_, to_json(counts));
      return;
    }
    std::cout << fmt::format("{}{} of {} lines show a fault\n", first_ ? "" : "\n", shown_, lines_);
    for (const auto& [fault, count] : counts)
      std::cout << fmt::format("{:6}  {}  {}\n", count, fault->id, fault->title);
  }

  bool found() const { return shown_ > 0; }

 private:
  bool json() const { return options_.format == "json"; }

  void ingest(const std::string& name, const decode::Record& record) {
    parameters::extract(record.text, parameters_);
    const auto faults =
        library_.match(drain::text(drain::masked_row(record.text, codes_)), parameters_);
    if (faults.empty()) return;
    ++shown_;
    const std::size_t told = options_.all ? faults.size() : 1;
    for (std::size_t i = 0; i < told; ++i)
      write({name, record.lines.front(), std::string(record.text), faults[i]});
  }

  void write(const FaultMatch& match) {
    ++counts_[match.fault];
    if (json()) {
      std::cout << (first_ ? "\n  " : ",\n  ") << to_json(match);
    } else {
      if (named_) std::cout << serve::harmless(match.file) << ':';
      std::cout << fmt::format("{}\t{}\t{}\t{}\n", match.line, match.fault->id, match.fault->title,
                               serve::harmless(match.text));
    }
    first_ = false;
  }

  const FaultsOptions& options_;
  const offline::Settings& settings_;
  const l4::faults::Library& library_;
  const drain::CodeList& codes_;
  bool named_;  ///< rows name the file
  bool first_ = true;
  std::array<char, std::size_t{64} * 1024> buffer_;
  std::vector<wire::Parameter> parameters_;
  std::map<const l4::faults::Fault*, std::size_t> counts_;
  std::uint64_t lines_ = 0, shown_ = 0;
};

Result<void> read_file(Matcher& matcher, const std::filesystem::path& file) {
  auto reader = discover::FileReader::open(file);
  if (!reader) return std::unexpected(reader.error());
  return matcher.input(file.string(), [&](std::span<char> out) { return reader->read(out); });
}

Result<void> read_standard_input(Matcher& matcher) {
  return matcher.input("-", [](std::span<char> out) -> Result<std::size_t> {
    std::cin.read(out.data(), static_cast<std::streamsize>(out.size()));
    return static_cast<std::size_t>(std::cin.gcount());
  });
}

Result<void> read_lines(Matcher& matcher, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return matcher.input("--line", [&](std::span<char> out) -> Result<std::size_t> {
    const std::size_t bytes = text.copy(out.data(), out.size());
    text.erase(0, bytes);
    return bytes;
  });
}

}  // namespace

int match_faults(const FaultsOptions& options, const offline::Settings& settings,
                 const l4::faults::Library& library) {
  Matcher matcher(options, settings, library);
  matcher.begin();
  std::size_t read = 0;
  const auto note = [&](const Result<void>& done) {
    if (done)
      ++read;
    else
      std::cerr << "l4 faults match: " << done.error().text() << '\n';
  };
  if (!options.lines.empty()) note(read_lines(matcher, options.lines));
  for (const std::filesystem::path& file : options.files)
    note(file == "-" ? read_standard_input(matcher) : read_file(matcher, file));
  if (read > 0 || options.format == "json") matcher.end();
  if (const int written = terminal::finish_output("l4 faults match"); written != terminal::kDone)
    return written;
  if (read == 0) return terminal::kNothingRead;
  return options.exit_code && matcher.found() ? terminal::kFailureFound : terminal::kDone;
}

}  // namespace l4::commands::faults
