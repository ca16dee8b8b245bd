#include "aggregator/confirm/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "aggregator/confirm/told_event.h"
#include "aggregator/diagnose/exit_evidence.h"
#include "aggregator/faults/distil.h"
#include "aggregator/faults/notation.h"
#include "aggregator/faults/pattern.h"
#include "aggregator/serve/utf8.h"
#include "common/base/check.h"
#include "common/drain/mask.h"

namespace l4::confirm {
namespace {

using diagnose::IndicatingEvent;
using diagnose::parameters_of;
using diagnose::Why;

std::unexpected<Refused> bad(std::string message) {
  return std::unexpected(Refused{400, "bad_request", std::move(message), {}});
}
std::unexpected<Refused> refused(std::string message, std::vector<scoring::SeenLine> lines = {}) {
  return std::unexpected(Refused{422, "refused", std::move(message), std::move(lines)});
}

std::string listed(const std::vector<IndicatingEvent>& events) {
  constexpr std::size_t kMost = 8, kWidth = 120;
  std::string list;
  for (std::size_t i = 0; i < std::min(events.size(), kMost); ++i)
    list += fmt::format("{}{} ({})", i == 0 ? "" : ", ", to_string(events[i].id),
                        serve::cut(events[i].text, kWidth));
  return list.empty() ? "none" : list;
}

faults::Library library_of(const faults::Fault& fault) {
  return faults::Library().with({fault});
}

/// Errors of the given patterns.
std::optional<Refused> wrong_in(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns)
    if (const auto error = faults::error_of(faults::expand_pattern(pattern)); !error.empty())
      return Refused{400, "bad_request", fmt::format("pattern: {}: {}", pattern, error), {}};
  return std::nullopt;
}

/// The event that shows the fault: the named one, else the first that the given patterns match,
/// else the most telling.
std::expected<IndicatingEvent, Refused> chosen(const ConfirmRequest& request,
                                               const diagnose::Report& report,
                                               const std::vector<IndicatingEvent>& events,
                                               const faults::Library& library) {
  faults::Fault given;
  given.patterns = request.patterns;
  const faults::Library asked = library_of(given);
  const bool any = request.template_id.empty() && request.patterns.empty();
  if (const auto* best = any ? most_telling(report, events, library) : nullptr) return *best;
  for (const IndicatingEvent& event : events) {
    if (to_string(event.id) == request.template_id) return event;
    if (request.template_id.empty() && !asked.match(event.text).empty()) return event;
  }
  if (!request.template_id.empty())
    return bad(fmt::format("template: {} is no event of incident {}; there are: {}",
                           request.template_id, request.incident, listed(events)));
  if (!request.patterns.empty())
    return refused(fmt::format("pattern: {}: matches no event of incident {}; there are: {}",
                               request.patterns.front(), request.incident, listed(events)));
  return refused(fmt::format(
      "no event of incident {} tells what happened by itself; name one with template, or give a "
      "pattern. Its events: {}",
      request.incident, listed(events)));
}

bool shows(const faults::Library& one, const std::string& line) {
  return !one.match(line).empty() &&
         !one.match(drain::text(drain::masked_row(line, drain::default_codes()))).empty();
}

/// Lets anything stand between the words of a pattern: values in parentheses are in the line and
/// not in its template.
std::string loosened(const std::string& pattern) {
  std::string loose;
  for (const char c : pattern) loose.append(c == ' ' ? ".* " : std::string(1, c));
  return loose;
}

std::string title_of(std::string_view text) {
  std::string title;
  for (std::size_t at = 0; at < text.size();) {
    const bool wild = text.substr(at).starts_with("<*>");
    title.append(wild ? "…" : std::string(1, text[at]));
    at += wild ? 3 : 1;
  }
  title = serve::harmless(title);
  while (title.size() > Bounds::kTitle || title.ends_with(' ') || title.ends_with('.')) {
    const std::size_t blank = title.find_last_of(' ');
    const std::size_t end =
        blank == title.npos || blank + 1 == title.size() ? title.size() - 1 : blank;
    title.resize(end);
  }
  return title.empty() ? "A fault without a name" : title;
}

std::string slug_of(std::string_view title) {
  constexpr std::size_t kMost = 48;
  std::string slug;
  for (const char c : title) {
    const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    const bool plain = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9');
    if (plain && slug.size() < kMost) slug += low;
    if (!plain && !slug.empty() && !slug.ends_with('_') && slug.size() < kMost) slug += '_';
  }
  while (slug.ends_with('_')) slug.pop_back();
  return slug.empty() ? "fault" : slug;
}

std::optional<Refused> set_id(const ConfirmRequest& request, const faults::Library& library,
                              faults::Fault& fault) {
  fault.id = request.id;
  if (request.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    return Refused{400, "bad_request", "id: " + request.id + ": must be of a-z, 0-9 and _", {}};
  const faults::Fault* other = request.id.empty() ? nullptr : library.find(request.id);
  if (other != nullptr)
    return Refused{409,
                   "exists",
                   fmt::format("id: {} is the id of another fault: {}", request.id, other->title),
                   {}};
  const std::string slug = "site_" + slug_of(fault.title);
  for (int number = 1; fault.id.empty() || library.find(fault.id) != nullptr; ++number)
    fault.id = number == 1 ? slug : fmt::format("{}_{}", slug, number);
  return std::nullopt;
}

std::optional<Refused> read_category(const std::string& given, faults::Fault& fault) {
  using faults::Category;
  std::string known;
  for (const Category category :
       {Category::hardware, Category::user, Category::framework, Category::platform})
    for (const std::string_view subcategory : faults::subcategories_of(category)) {
      const std::string name = fmt::format("{}/{}", faults::name(category), subcategory);
      known += (known.empty() ? "" : ", ") + name;
      const bool only = faults::subcategories_of(category).size() == 1;
      if (given != name && !(only && given == faults::name(category))) continue;
      fault.category = category;
      fault.subcategory = subcategory;
      return std::nullopt;
    }
  return Refused{400,
                 "bad_request",
                 fmt::format("category: {}: there is no such one; there are: {}", given, known),
                 {}};
}

std::optional<Refused> set_category(const ConfirmRequest& request, const IndicatingEvent& event,
                                    const faults::Library& library, Confirmed& proposed) {
  faults::Fault& fault = proposed.fault;
  proposed.category_from = "given";
  if (!request.category.empty()) return read_category(request.category, fault);
  const std::vector<std::string> texts{event.text, request.cause};
  if (const faults::Fault* known = known_as(library, event)) {
    proposed.category_from = "known_fault";
    fault.category = known->category;
    fault.subcategory = known->subcategory;
  } else if (const auto near = library.likeness().place(texts)) {
    proposed.category_from = "likeness";
    fault.category = near->category;
    fault.subcategory = near->subcategory;
  } else {
    proposed.category_from = "assumed";
    fault.category = faults::Category::user;
    fault.subcategory = "program";
  }
  return std::nullopt;
}

/// Sets scope and severity of the fault as this event shows them.
void set_reach(const IndicatingEvent& event, faults::Fault& fault) {
  const bool one_node = event.nodes.size() <= 1;
  fault.scope = !one_node ? Scope::several : event.ranks.size() > 1 ? Scope::node : Scope::rank;
  const bool fatal = std::ranges::find(event.why, Why::fatal) != event.why.end();
  fault.severity = fatal || event.level == Level::fatal ? Level::fatal : Level::error;
}

std::optional<Refused> set_patterns(const ConfirmRequest& request, const diagnose::Report& report,
                                    const IndicatingEvent& event, faults::Fault& fault) {
  const auto made = faults::distil(event.text, names_of(report, event), parameters_of(event));
  fault.conditions = made.conditions;
  fault.patterns = request.patterns;
  if (fault.patterns.empty()) fault.patterns = {made.pattern};
  for (const std::string& pattern : fault.patterns) {
    const std::size_t constant = faults::literals_of(faults::expand_pattern(pattern)).characters;
    if (constant < faults::kConstantMin && fault.conditions.empty())
      return Refused{422,
                     "refused",
                     fmt::format("pattern: {}: holds {} constant characters, and at least {} are "
                                 "needed to know a fault by",
                                 pattern, constant, faults::kConstantMin),
                     {}};
  }
  return std::nullopt;
}

std::optional<Refused> set_example(const ConfirmRequest& request, const IndicatingEvent& event,
                                   faults::Fault& fault) {
  const bool seen = request.example.empty() && !event.examples.empty();
  std::string line = seen ? serve::harmless(event.examples.front().text) : request.example;
  if (line.empty()) line = serve::harmless(faults::line_of(event.text));
  if (!shows(library_of(fault), line) && request.patterns.empty())
    fault.patterns = {loosened(fault.patterns.front())};
  fault.matches = {line};
  if (shows(library_of(fault), line)) return std::nullopt;
  return Refused{422,
                 "refused",
                 fmt::format("the line that stands for it is not matched by {}; give another "
                             "example, or a pattern: {}",
                             fault.patterns.front(), line),
                 {}};
}

/// A title from the sentence of an exit, without the time.
std::string title_of(const diagnose::Struck& exit) {
  const std::string& text = exit.event.text;
  return title_of("A process ended by " + text.substr(text.find(": ") + 2));
}

/// Whether each code of the event is a code of the exit and stands in the event's text.
bool tells(const IndicatingEvent& event, const diagnose::Struck& exit,
           const std::vector<faults::Condition>& codes) {
  const std::string name = exit.event.parameters.empty() ? "" : exit.event.parameters.front().value;
  const std::array values{name, std::to_string(-exit.signal), std::to_string(128 + exit.signal)};
  return !codes.empty() && std::ranges::all_of(codes, [&](const faults::Condition& code) {
    return std::ranges::all_of(code.values, [&](const std::string& value) {
      return std::ranges::find(values, value) != values.end() &&
             event.text.find(value) != event.text.npos;
    });
  });
}

/// If the line reports the exit that was seen, the next job may show the line or only the exit: a
/// launcher prints such a line depending on which of its processes it checked first. So the exit's
/// own pattern is added; its conditions go, because both patterns hold the codes as text. True if
/// the fault is the way in which the process was ended.
bool add_exit(const diagnose::Struck& exit, const IndicatingEvent& event,
              const std::vector<std::string>& names, faults::Fault& fault) {
  if (event.id == exit.event.id) return true;
  if (!tells(event, exit, fault.conditions)) return false;
  const auto made = faults::distil(exit.event.text, names, parameters_of(exit.event));
  fault.conditions.clear();
  fault.patterns.push_back(made.pattern);
  fault.matches.push_back(exit.event.examples.front().text);
  return true;
}

/// Refuses the proposal if a known fault comes first on the same line, so that the new one would
/// never be reported.
std::optional<Refused> hidden_by(const Confirmed& proposed, const faults::Library& library) {
  if (proposed.evidence.empty())  // the chosen event does not hold the requested codes
    return Refused{
        422, "refused", "no event of the incident holds the codes that are asked for", {}};
  const IndicatingEvent& event = proposed.evidence.front();
  const faults::Library all = library.with({proposed.fault});
  const auto told = all.match(event.text, parameters_of(event));
  if (told.empty() || told.front()->id == proposed.fault.id) return std::nullopt;
  const faults::Fault& first = *told.front();
  return Refused{
      422,
      "refused",
      fmt::format("{} ({}) would be told before it for the same line; {}", first.id, first.title,
                  first.confirmed ? "withdraw it first"
                                  : "a pattern with more of the line's constant text "
                                    "comes first"),
      {}};
}

}  // namespace

std::expected<Confirmed, Refused> propose(const ConfirmRequest& request,
                                          const diagnose::Report& report,
                                          const faults::Library& library) {
  if (auto wrong = wrong_in(request.patterns)) return std::unexpected(*wrong);
  const std::vector<IndicatingEvent> events = telling(report);
  const auto event = chosen(request, report, events, library);
  if (!event) return std::unexpected(event.error());
  const auto exit = diagnose::struck(report);
  Confirmed proposed;
  faults::Fault& fault = proposed.fault;
  fault.family = "confirmed";
  fault.cause = request.cause;
  fault.fix = request.fix;
  fault.action = request.action.empty() ? request.fix : request.action;
  if (auto wrong = set_category(request, *event, library, proposed)) return std::unexpected(*wrong);
  set_reach(*event, fault);
  if (auto wrong = set_patterns(request, report, *event, fault)) return std::unexpected(*wrong);
  if (auto wrong = set_example(request, *event, fault)) return std::unexpected(*wrong);
  const bool of_exit =
      exit && request.patterns.empty() && add_exit(*exit, *event, names_of(report, *event), fault);
  fault.title = !request.title.empty() ? request.title
                : of_exit              ? title_of(*exit)
                                       : title_of(event->text);
  if (auto wrong = set_id(request, library, fault)) return std::unexpected(*wrong);
  const faults::Library one = library_of(fault);
  for (const IndicatingEvent& other : events)
    if (!one.match(other.text, parameters_of(other)).empty()) proposed.evidence.push_back(other);
  for (const faults::Fault& before : library.faults())
    if (before.confirmed && before.confirmed->incident == request.incident &&
        before.patterns == fault.patterns && before.cause == fault.cause &&
        before.fix == fault.fix) {  // a repeated request, for example after a lost answer
      fault = before;
      proposed.known = proposed.stored = true;
      return proposed;
    }
  if (auto hidden = hidden_by(proposed, library)) return std::unexpected(*hidden);
  return proposed;
}

faults::Library alone(const Confirmed& proposed) {
  return library_of(proposed.fault);
}

std::expected<Confirmed, Refused> judge(Confirmed proposed, scoring::NormalLines normal,
                                        const faults::Library& library) {
  constexpr std::size_t kOverlapsMax = 8;
  L4_CHECK(!proposed.fault.patterns.empty() && !proposed.fault.matches.empty(),
           "fault {} is judged with {} patterns and {} lines", proposed.fault.id,
           proposed.fault.patterns.size(), proposed.fault.matches.size());
  const faults::Library one = alone(proposed);
  for (const faults::Fault& known : library.faults())
    for (const std::string& line : known.matches) {
      if (!shows(one, line)) continue;
      if (known.severity == Level::info) {
        ++normal.matching;
        normal.lines.push_back({"fault " + known.id + ", which is harmless", line});
      } else if (proposed.overlaps.size() < kOverlapsMax &&
                 (proposed.overlaps.empty() || proposed.overlaps.back() != known.id)) {
        proposed.overlaps.push_back(known.id);
      }
    }
  if (normal.matching > 0)
    return refused(fmt::format("{} matches {} lines that are no failure; a narrower pattern is "
                               "needed",
                               proposed.fault.patterns.front(), normal.matching),
                   std::move(normal.lines));
  faults::Fault& fault = proposed.fault;
  for (const auto& [alike, text] : normal.near)
    fault.rejects.push_back(serve::harmless(faults::line_of(text)));
  if (const auto near = library.likeness().nearest(fault.matches.front()); near && near->nearest)
    if (const std::string& line = near->nearest->matches.front(); !shows(one, line))
      fault.rejects.push_back(line);
  if (fault.rejects.empty()) {  // no near miss: the first part of the fault's own line
    const std::string& line = fault.matches.front();
    fault.rejects.push_back(line.substr(0, line.find(' ', line.size() / 3)));
  }
  std::erase_if(fault.rejects, [&](const std::string& line) { return shows(one, line); });
  if (fault.rejects.empty()) fault.rejects.push_back("INFO all is well");
  proposed.normal = std::move(normal);
  return proposed;
}

}  // namespace l4::confirm
