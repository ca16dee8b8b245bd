// The words behind `expect`; each asks a question about a report.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "tests/scenarios/scenario.h"

namespace l4::scenario {
namespace {

using diagnose::Report;
using Check = std::function<std::optional<std::string>(const Report&)>;
using Made = Result<Check>;

std::unexpected<Error> bad(std::string reason) {
  return std::unexpected(Error{"", std::move(reason)});
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The words of one expectation.
class Words {
 public:
  explicit Words(const std::vector<Word>& words) : words_(words) {}
  bool done() const { return at_ == words_.size(); }
  bool take(std::string_view word) {
    if (done() || words_[at_].quoted || words_[at_].text != word) return false;
    ++at_;
    return true;
  }
  std::string next() { return done() ? "" : words_[at_++].text; }

 private:
  const std::vector<Word>& words_;
  std::size_t at_ = 0;
};

std::optional<std::string> wrong_unless(bool right, std::string is) {
  if (right) return std::nullopt;
  return is;
}

/// "<= 2", "< .5", ">= 1", "= 3".
struct Comparison {
  std::string sign;
  double with = 0;
  bool holds(double value) const {
    return sign == "<"    ? value < with
           : sign == "<=" ? value <= with
           : sign == ">"  ? value > with
           : sign == ">=" ? value >= with
                          : value == with;
  }
};

Result<Comparison> comparison(Words& words) {
  Comparison read;
  read.sign = words.next();
  static const std::set<std::string> kSigns{"<", "<=", ">", ">=", "="};
  const auto with = number(words.next());
  if (!kSigns.contains(read.sign) || !with) return bad("a comparison such as <= 2 is missing");
  read.with = *with;
  return read;
}

/// "a or b or c", all of them among `known`.
template <class Known>
Result<std::set<std::string>> choices(Words& words, Known known) {
  std::set<std::string> read;
  do {
    const std::string word = words.next();
    if (!known(word)) return bad(fmt::format("'{}' is not one of its words", word));
    read.insert(word);
  } while (words.take("or"));
  return read;
}

template <class Enum>
bool names(Enum last, const std::string& word) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name(static_cast<Enum>(i)) == word) return true;
  return false;
}

Made state(Words& words) {
  const auto read = choices(words, [](const auto& w) { return names(State::launch_failed, w); });
  if (!read) return std::unexpected(read.error());
  return [states = *read](const Report& report) {
    const std::string is(name(report.verdict.state));
    return wrong_unless(states.contains(is), "state is " + is);
  };
}

Made scope(Words& words) {
  const auto read = choices(words, [](const auto& w) { return names(Scope::unknown, w); });
  if (!read) return std::unexpected(read.error());
  return [scopes = *read](const Report& report) {
    const std::string is(name(report.verdict.scope));
    return wrong_unless(scopes.contains(is), "scope is " + is);
  };
}

Made stage(Words& words) {
  const auto read = choices(words, [](const auto& w) { return names(Stage::exit, w); });
  if (!read) return std::unexpected(read.error());
  return [stages = *read](const Report& report) {
    const std::string is(name(report.verdict.stage));
    return wrong_unless(stages.contains(is), "stage is " + is);
  };
}

Made confidence(Words& words) {
  const auto read = comparison(words);
  if (!read) return std::unexpected(read.error());
  return [limit = *read](const Report& report) {
    const double is = report.verdict.confidence;
    return wrong_unless(limit.holds(is), fmt::format("confidence is {}", is));
  };
}

Made events(Words& words) {
  const auto read = comparison(words);
  if (!read) return std::unexpected(read.error());
  return [limit = *read](const Report& report) {
    std::string is = fmt::format("there are {} events", report.events.size());
    for (const auto& event : report.events) is += "\n    " + event.text.substr(0, 90);
    return wrong_unless(limit.holds(static_cast<double>(report.events.size())), is);
  };
}

/// Place of the first that `is` accepts; the end if there is none.
template <class List, class Is>
std::size_t place(const List& list, Is is) {
  return static_cast<std::size_t>(std::ranges::find_if(list, is) - list.begin());
}

/// How far from the top of a list something may stand.
Result<std::size_t> top(Words& words) {
  if (words.take("first")) return 1;
  if (!words.take("within")) return ~std::size_t{0};
  const auto read = number(words.next());
  if (!read || *read < 1) return bad("within how many?");
  return static_cast<std::size_t>(*read);
}

Made node(Words& words) {
  const std::string wanted = words.next();
  if (wanted.empty()) return bad("which node?");
  const auto limit = top(words);
  if (!limit) return std::unexpected(limit.error());
  return [wanted, most = *limit](const Report& report) {
    const auto at = place(report.nodes, [&](const auto& node) { return node.node == wanted; });
    std::string is = "nodes are";
    for (const auto& node : report.nodes) is += fmt::format(" {} ({:.2f})", node.node, node.score);
    return wrong_unless(at < std::min(most, report.nodes.size()), is);
  };
}

Made rank(Words& words) {
  const auto wanted = number(words.next());
  if (!wanted) return bad("which rank?");
  const auto limit = top(words);
  if (!limit) return std::unexpected(limit.error());
  return [wanted = static_cast<int>(*wanted), most = *limit](const Report& report) {
    const auto at = place(report.ranks, [&](const auto& r) { return r.rank == Rank{wanted}; });
    std::string is = "ranks are";
    for (const auto& r : report.ranks)
      is += r.rank ? fmt::format(" {}", r.rank->value()) : fmt::format(" (of {})", r.node);
    return wrong_unless(at < std::min(most, report.ranks.size()), is);
  };
}

/// "47", "46 or 47", "none".
Made iteration(Words& words) {
  const auto read = choices(words, [](const auto& w) { return w == "none" || number(w); });
  if (!read) return std::unexpected(read.error());
  return [wanted = *read](const Report& report) {
    const auto is = report.verdict.iteration;
    const std::string text = is ? std::to_string(is->value()) : "none";
    return wrong_unless(wanted.contains(text), "iteration is " + text);
  };
}

/// "notable \"NaN from iteration 30\"": a part of the text of a notice.
Made notable(Words& words) {
  const std::string part = words.next();
  if (part.empty()) return bad("notable what?");
  return [part](const Report& report) {
    const auto at = place(report.notable, [&](const auto& notable) {
      return notable.text.find(part) != std::string::npos;
    });
    std::string is = fmt::format("there are {} notices", report.notable.size());
    for (const auto& notable : report.notable) is += "\n    " + notable.text;
    return wrong_unless(at < report.notable.size(), is);
  };
}

/// "nothing notable"
Made nothing(Words& words) {
  if (!words.take("notable")) return bad("nothing of what? notable");
  return [](const Report& report) {
    std::string is = fmt::format("there are {} notices", report.notable.size());
    for (const auto& notable : report.notable) is += "\n    " + notable.text;
    return wrong_unless(report.notable.empty(), is);
  };
}

/// "listed iteration 47": among the iterations that differ from their neighbours.
Made listed(Words& words) {
  if (!words.take("iteration")) return bad("listed what? iteration");
  const auto wanted = number(words.next());
  if (!wanted) return bad("which iteration?");
  const auto limit = top(words);
  if (!limit) return std::unexpected(limit.error());
  return [wanted = static_cast<std::int64_t>(*wanted), most = *limit](const Report& report) {
    const auto at =
        place(report.iterations, [&](const auto& it) { return it.iteration.value() == wanted; });
    std::string is = "listed are";
    for (const auto& it : report.iterations) is += fmt::format(" {}", it.iteration.value());
    return wrong_unless(at < std::min(most, report.iterations.size()), is);
  };
}

Made since(Words& words) {
  const auto when = read_duration(words.next());
  Millis margin{1500};
  if (words.take("within")) margin = read_duration(words.next()).value_or(Millis{-1});
  if (!when || margin < Millis{0}) return bad("since when? such as 61s within 2s");
  return [when = start_time() + *when, margin](const Report& report) {
    const auto is = report.verdict.since;
    return wrong_unless(is && std::chrono::abs(*is - when) <= margin,
                        is ? "since is " + to_rfc3339(*is) : std::string("there is no since"));
  };
}

/// matching "...", [first|within N], [role root], [on node-3 alone].
Made event(Words& words, bool wanted) {
  if (!words.take("matching")) return bad("event matching what?");
  const std::string part = words.next();
  if (part.empty()) return bad("event matching what?");
  const auto limit = top(words);
  if (!limit) return std::unexpected(limit.error());
  std::string role;
  if (words.take("role")) {
    role = words.next();
    if (!names(Role::consequence, role)) return bad("no role");
  }
  std::string on;
  if (words.take("on")) on = words.next();
  return [=, most = *limit](const Report& report) {
    const auto at = place(report.events, [&](const auto& e) {
      return e.text.find(part) != std::string::npos && (role.empty() || name(e.role) == role) &&
             (on.empty() || e.nodes == std::vector{on});
    });
    std::string is = "events are";
    for (const auto& e : report.events)
      is += fmt::format("\n    {} {} on {}", name(e.role), e.text.substr(0, 70),
                        e.nodes.size() == 1 ? e.nodes.front() : std::to_string(e.nodes.size()));
    return wrong_unless((at < std::min(most, report.events.size())) == wanted, is);
  };
}

Made no(Words& words) {
  if (words.take("event")) return event(words, false);
  if (words.take("nodes"))
    return [](const Report& report) {
      return wrong_unless(report.nodes.empty(), fmt::format("{} nodes", report.nodes.size()));
    };
  if (words.take("iterations"))
    return [](const Report& report) {
      return wrong_unless(report.iterations.empty(),
                          fmt::format("{} iterations", report.iterations.size()));
    };
  if (!words.take("node")) return bad("no what? event, node, nodes, iterations");
  return [unwanted = words.next()](const Report& report) {
    const auto at = place(report.nodes, [&](const auto& node) { return node.node == unwanted; });
    return wrong_unless(at == report.nodes.size(), unwanted + " is listed");
  };
}

Made attempt(Words& words) {
  const auto which = number(words.next());
  if (!which) return bad("which attempt?");
  const auto read = choices(words, [](const auto& w) { return names(State::launch_failed, w); });
  if (!read) return std::unexpected(read.error());
  return [which = static_cast<int>(*which), states = *read](const Report& report) {
    std::string is = "attempts are";
    bool right = false;
    for (const auto& attempt : report.job.attempts) {
      is += fmt::format(" {}:{}", attempt.attempt, name(attempt.state));
      right =
          right || (attempt.attempt == which && states.contains(std::string(name(attempt.state))));
    }
    return wrong_unless(right, is);
  };
}

/// "span evaluation": the job went through that stage.
Made span(Words& words) {
  const auto read = choices(words, [](const auto& w) { return names(Stage::exit, w); });
  if (!read) return std::unexpected(read.error());
  return [stages = *read](const Report& report) {
    std::string is = "stages are";
    bool right = false;
    for (const auto& one : report.stages) {
      is += fmt::format(" {}", name(one.stage));
      right = right || stages.contains(std::string(name(one.stage)));
    }
    return wrong_unless(right, is);
  };
}

Made dropped(Words& words) {
  const auto read = comparison(words);
  if (!read) return std::unexpected(read.error());
  return [limit = *read](const Report& report) {
    const auto is = static_cast<double>(report.pool.events_dropped);
    return wrong_unless(limit.holds(is), fmt::format("{} events were dropped", is));
  };
}

Made fault(Words& words) {
  const std::string wanted = words.next();
  if (wanted.empty()) return bad("which fault?");
  return [wanted](const Report& report) {
    const auto at = place(report.faults, [&](const auto& one) {
      return one.id.find(wanted) != std::string::npos ||
             one.title.find(wanted) != std::string::npos;
    });
    std::string is = "faults are";
    for (const auto& one : report.faults) is += " " + one.id;
    return wrong_unless(at < report.faults.size(), is);
  };
}

Made summary(Words& words) {
  const std::string wanted = words.next();
  if (wanted.empty()) return bad("which part of the summary?");
  return [wanted](const Report& report) {
    const bool right = report.verdict.summary.find(wanted) != std::string::npos;
    return wrong_unless(right, "summary is " + report.verdict.summary);
  };
}

}  // namespace

Result<Expectation> read_expectation(const std::vector<Word>& all) {
  static const std::map<std::string, Made (*)(Words&)> kKinds{
      {"state", state},
      {"scope", scope},
      {"stage", stage},
      {"node", node},
      {"confidence", confidence},
      {"events", events},
      {"rank", rank},
      {"iteration", iteration},
      {"listed", listed},
      {"since", since},
      {"no", no},
      {"attempt", attempt},
      {"span", span},
      {"dropped", dropped},
      {"fault", fault},
      {"summary", summary},
      {"notable", notable},
      {"nothing", nothing},
      {"event", [](Words& words) { return event(words, true); }}};
  Words words(all);
  const std::string kind = words.next();
  const auto found = kKinds.find(kind);
  if (found == kKinds.end()) return bad(fmt::format("'{}' cannot be expected", kind));
  auto check = found->second(words);
  if (!check) return std::unexpected(check.error());
  if (!words.done()) return bad(fmt::format("'{}' is too much", words.next()));
  Expectation made;
  made.check = std::move(*check);
  for (const Word& word : all)
    made.text += (made.text.empty() ? "" : " ") + (word.quoted ? '"' + word.text + '"' : word.text);
  return made;
}

}  // namespace l4::scenario
