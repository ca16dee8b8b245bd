#include "tests/scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

namespace l4::scenario {
namespace {

using WordList = std::vector<Word>;

Error mistake(std::string reason) {
  return {"", std::move(reason)};
}

Result<WordList> split(const std::string& line) {
  WordList words;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ' || line[i] == '\t') {
      ++i;
    } else if (line[i] == '#') {
      break;
    } else if (line[i] == '"') {
      Word word{"", true};
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) {
          ++i;
          word.text += line[i] == 'n' ? '\n' : line[i];
        } else {
          word.text += line[i];
        }
      }
      if (i++ >= line.size()) return std::unexpected(mistake("a quote is not closed"));
      words.push_back(std::move(word));
    } else {
      const auto end = std::min(line.find_first_of(" \t\"", i), line.size());
      words.push_back({line.substr(i, end - i), false});
      i = end;
    }
  }
  return words;
}

template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "0-3,7" within [0, limit).
Result<std::vector<int>> number_list(const std::string& text, int limit) {
  std::vector<int> list;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const auto dash = part.find('-');
    const auto first = number<int>(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : number<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= limit)
      return std::unexpected(mistake(fmt::format("'{}' is no list within 0-{}", text, limit - 1)));
    for (int i = *first; i <= *last; ++i) list.push_back(i);
    at = comma + 1;
  }
  return list;
}

/// Reads the words of a line one by one.
class Cursor {
 public:
  explicit Cursor(WordList words) : words_(std::move(words)) {}
  bool done() const { return at_ == words_.size(); }
  bool take(std::string_view word) {
    if (done() || words_[at_].quoted || words_[at_].text != word) return false;
    ++at_;
    return true;
  }
  bool quoted() const { return !done() && words_[at_].quoted; }
  std::string peek() const { return done() ? "" : words_[at_].text; }
  std::string next() { return done() ? "" : words_[at_++].text; }
  WordList rest() const {
    return {words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end()};
  }

 private:
  WordList words_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  Result<void> line(WordList words, int number);
  Scenario take() { return std::move(scenario_); }

 private:
  Result<bool> head(Cursor& words);
  Result<void> step(Cursor& words);
  Result<void> when(Cursor& words, Step& step);
  Result<void> verb(Cursor& words, Step& step);
  Result<std::vector<Speaker>> who(Cursor& words);
  Result<std::vector<Speaker>> one_target(Cursor& words);
  std::vector<Speaker> ranks_of(int node) const;
  Result<void> duration(Cursor& words, Millis& into);

  Scenario scenario_;
  Run* run_ = &scenario_.job;
  int attempt_ = 0;
  std::int64_t first_iteration_ = 1;
};

Result<void> Reader::duration(Cursor& words, Millis& into) {
  const std::string text = words.next();
  const auto read = read_duration(text);
  if (!read) return std::unexpected(mistake(fmt::format("'{}' is no duration such as 61s", text)));
  into = *read;
  return {};
}

std::vector<Speaker> Reader::ranks_of(int node) const {
  std::vector<Speaker> ranks;
  for (int i = 0; i < scenario_.head.ranks; ++i) ranks.push_back(node * scenario_.head.ranks + i);
  return ranks;
}

Result<std::vector<Speaker>> Reader::one_target(Cursor& words) {
  const Head& head = scenario_.head;
  const auto node_of = [&](const std::string& name) -> std::optional<int> {
    if (!name.starts_with("node-")) return std::nullopt;
    const auto node = number<int>(name.substr(5));
    return node && *node >= 0 && *node < head.nodes ? node : std::nullopt;
  };
  std::vector<Speaker> who;
  if (words.take("every")) {
    if (words.take("launcher")) {
      for (int node = 0; node < head.nodes; ++node) who.push_back(-1 - node);
      return who;
    }
    if (!words.take("rank")) return std::unexpected(mistake("every what? rank or launcher"));
    for (int rank = 0; rank < head.all_ranks(); ++rank) who.push_back(rank);
    return who;
  }
  if (words.take("rank") || words.take("ranks")) return number_list(words.next(), head.all_ranks());
  if (words.take("nodes")) {
    const auto nodes = number_list(words.next(), head.nodes);
    if (!nodes) return nodes;
    for (const int node : *nodes)
      for (const Speaker rank : ranks_of(node)) who.push_back(rank);
    return who;
  }
  const bool launcher = words.take("launcher");
  const std::string name = words.next();
  const auto node = node_of(name);
  if (!node) return std::unexpected(mistake(fmt::format("'{}' is nobody of this job", name)));
  if (launcher) return std::vector<Speaker>{-1 - *node};
  return ranks_of(*node);
}

Result<std::vector<Speaker>> Reader::who(Cursor& words) {
  auto who = one_target(words);
  if (!who || !words.take("but")) return who;
  const auto without = one_target(words);
  if (!without) return without;
  std::erase_if(*who, [&](Speaker speaker) {
    return std::ranges::find(*without, speaker) != without->end();
  });
  return who;
}

Result<void> Reader::when(Cursor& words, Step& step) {
  const std::string text = words.next();
  const auto dots = text.find("..");
  const auto from = read_duration(text.substr(0, dots));
  const auto to = dots == std::string::npos ? from : read_duration(text.substr(dots + 2));
  if (!from || !to || *to < *from)
    return std::unexpected(mistake(fmt::format("'{}' is no time such as 61s or 0s..60s", text)));
  step.from = *from;
  step.to = *to;
  if (dots != std::string::npos) step.each = scenario_.head.pace;
  if (words.take("each")) {
    if (const auto read = duration(words, step.each); !read) return read;
    if (step.each <= Millis{0}) return std::unexpected(mistake("each must be more than nothing"));
  }
  return {};
}

Result<void> Reader::verb(Cursor& words, Step& step) {
  static const std::map<std::string, Verb> kVerbs{
      {"iterates", Verb::iterates}, {"iterate", Verb::iterates}, {"says", Verb::says},
      {"say", Verb::says},          {"prints", Verb::prints},    {"print", Verb::prints},
      {"raises", Verb::raises},     {"raise", Verb::raises},     {"stops", Verb::stops},
      {"stop", Verb::stops}};
  const std::string word = words.next();
  const auto found = kVerbs.find(word);
  if (found == kVerbs.end()) return std::unexpected(mistake(fmt::format("nobody can '{}'", word)));
  step.verb = found->second;
  if (step.verb == Verb::iterates && words.take("forward")) {
    Millis forward{};
    if (const auto read = duration(words, forward); !read) return read;
    step.forward = forward;
  }
  if (step.verb == Verb::iterates || step.verb == Verb::stops) return {};
  if (step.verb == Verb::says && !words.quoted()) {
    const auto level = level_from_name(words.peek());
    if (!level) return std::unexpected(mistake(fmt::format("'{}' is no level", words.peek())));
    words.next();
    step.level = *level;
  }
  if (!words.quoted()) return std::unexpected(mistake(fmt::format("what is it that is {}?", word)));
  step.text = words.next();
  return {};
}

Result<void> Reader::step(Cursor& words) {
  Step step;
  step.attempt = attempt_;
  step.first_iteration = first_iteration_;
  if (const auto read = when(words, step); !read) return read;
  auto speakers = who(words);
  if (!speakers) return std::unexpected(speakers.error());
  step.who = std::move(*speakers);
  if (const auto read = verb(words, step); !read) return read;
  const bool whole_node = step.verb == Verb::stops;
  if (whole_node)
    for (int node = 0; node < scenario_.head.nodes; ++node)
      if (std::ranges::all_of(ranks_of(node), [&](Speaker rank) {
            return std::ranges::find(step.who, rank) != step.who.end();
          }))
        step.who.push_back(-1 - node);
  run_->push_back(std::move(step));
  return {};
}

/// True if the line belongs to the head.
Result<bool> Reader::head(Cursor& words) {
  static const std::map<std::string, Style> kStyles{{"megatron", Style::megatron},
                                                    {"last_rank", Style::last_rank},
                                                    {"plain", Style::plain},
                                                    {"own", Style::own}};
  static const std::map<std::string, Times> kTimes{
      {"all", Times::all}, {"says", Times::says}, {"none", Times::none}};
  static const std::map<std::string, Layout> kLayouts{{"files", Layout::files},
                                                      {"torchrun", Layout::torchrun}};
  static const std::map<std::string, bool> kMtimes{{"real", true}, {"copied", false}};
  Head& head = scenario_.head;
  const auto pick = [&](const auto& names, auto& into) -> Result<bool> {
    const std::string word = words.next();
    const auto found = names.find(word);
    if (found == names.end())
      return std::unexpected(mistake(fmt::format("'{}' is no choice", word)));
    into = found->second;
    return true;
  };
  const auto count = [&](auto& into) -> Result<bool> {
    const std::string word = words.next();
    const auto read = number<std::int64_t>(word);
    if (!read || *read < 1 || *read > 4096)
      return std::unexpected(mistake(fmt::format("'{}' is no count from 1 to 4096", word)));
    into = static_cast<std::remove_reference_t<decltype(into)>>(*read);
    return true;
  };
  if (words.take("nodes")) return count(head.nodes);
  if (words.take("ranks")) return count(head.ranks);
  if (words.take("seed")) return count(head.seed);
  if (words.take("style")) return pick(kStyles, head.style);
  if (words.take("times")) return pick(kTimes, head.times);
  if (words.take("layout")) return pick(kLayouts, head.layout);
  if (words.take("mtimes")) return pick(kMtimes, head.real_mtimes);
  if (words.take("pace")) {
    if (const auto read = duration(words, head.pace); !read) return std::unexpected(read.error());
    return true;
  }
  return false;
}

Result<void> Reader::line(WordList all, int line_number) {
  Cursor words(std::move(all));
  if (words.done()) return {};
  const auto is_head = head(words);
  if (!is_head) return std::unexpected(is_head.error());
  if (*is_head) {
    if (!scenario_.job.empty() || !scenario_.history.empty())
      return std::unexpected(mistake("the head comes before all steps"));
  } else if (words.take("at")) {
    if (const auto read = step(words); !read) return read;
  } else if (words.take("as_of")) {
    Millis as_of{};
    if (const auto read = duration(words, as_of); !read) return read;
    scenario_.as_of = as_of;
  } else if (words.take("attempt")) {
    const auto attempt = number<int>(words.next());
    if (!attempt) return std::unexpected(mistake("attempt which?"));
    attempt_ = *attempt;
    first_iteration_ = 1;
    if (words.take("from")) first_iteration_ = number<std::int64_t>(words.next()).value_or(1);
  } else if (words.take("history")) {
    scenario_.history.emplace_back();
    run_ = &scenario_.history.back();
    attempt_ = 0;
  } else if (words.take("job")) {
    run_ = &scenario_.job;
    attempt_ = 0;
  } else {
    const Weight weight = words.take("may")           ? Weight::may
                          : words.take("known-wrong") ? Weight::known_wrong
                                                      : Weight::must;
    if (!words.take("expect"))
      return std::unexpected(mistake(fmt::format("'{}' begins no line", words.peek())));
    auto expectation = read_expectation(words.rest());
    if (!expectation) return std::unexpected(expectation.error());
    expectation->line = line_number;
    expectation->weight = weight;
    scenario_.expectations.push_back(std::move(*expectation));
    return {};
  }
  if (!words.done()) return std::unexpected(mistake(fmt::format("'{}' is too much", words.peek())));
  return {};
}

}  // namespace

std::optional<Millis> read_duration(const std::string& text) {
  const auto unit = text.find_first_not_of("0123456789");
  if (unit == std::string::npos) return std::nullopt;
  const auto value = number<std::int64_t>(text.substr(0, unit));
  if (!value) return std::nullopt;
  const std::string name = text.substr(unit);
  if (name == "ms") return Millis{*value};
  if (name == "s") return std::chrono::seconds{*value};
  if (name == "m") return std::chrono::minutes{*value};
  return std::nullopt;
}

TimeMs start_time() {
  return from_civil(2024, 3, 5, 10, 0, 0, 0);
}

Result<Scenario> read_scenario(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) return std::unexpected(Error{path.string(), "cannot be read"});
  Reader reader;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    auto words = split(line);
    auto read = words ? reader.line(std::move(*words), number)
                      : Result<void>(std::unexpected(words.error()));
    if (!read)
      return std::unexpected(
          Error{fmt::format("{}:{}", path.string(), number), read.error().reason});
  }
  Scenario scenario = reader.take();
  scenario.path = path;
  scenario.name = path.stem().string();
  scenario.healthy_twin = scenario.name.ends_with("-healthy");
  if (scenario.job.empty()) return std::unexpected(Error{path.string(), "nothing happens in it"});
  if (scenario.expectations.empty() && !scenario.healthy_twin)
    return std::unexpected(Error{path.string(), "nothing is expected of it"});
  return scenario;
}

}  // namespace l4::scenario
