#include "aggregator/faults/library.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "aggregator/faults/library_reader.h"
#include "aggregator/faults/pattern_set.h"
#include "common/parameters/parameters.h"

namespace l4::faults {
namespace {

bool meets(const Condition& condition, std::span<const wire::Parameter> parameters) {
  return std::ranges::any_of(parameters, [&](const wire::Parameter& parameter) {
    return parameter.kind == condition.kind &&
           std::ranges::find(condition.values, parameter.value) != condition.values.end();
  });
}

bool has_kind(std::span<const wire::Parameter> parameters, wire::ParameterKind kind) {
  return std::ranges::any_of(parameters, [&](const auto& value) { return value.kind == kind; });
}

/// The values of the event; the values in the text are extracted when a condition first needs them.
class Evidence {
 public:
  Evidence(std::string_view text, std::span<const wire::Parameter> given)
      : text_(text), given_(given) {}

  bool meets_all(const std::vector<Condition>& conditions) {
    return std::ranges::all_of(conditions, [&](const Condition& condition) {
      return meets(condition, has_kind(given_, condition.kind) ? given_ : from_text());
    });
  }

 private:
  std::span<const wire::Parameter> from_text() {
    if (!extracted_) parameters::extract(text_, extracted_.emplace());
    return *extracted_;
  }

  std::string_view text_;
  std::span<const wire::Parameter> given_;
  std::optional<std::vector<wire::Parameter>> extracted_;
};

/// A fault that a text shows, with the most specific of its matching patterns.
struct Answer {
  const Fault* fault = nullptr;
  std::size_t characters = 0;  ///< constant characters of that pattern

  /// Smaller ranks first; the addresses of faults are in the order of the files.
  auto rank() const {
    return std::tuple(fault->consequence, fault->conditions.empty(),
                      -static_cast<std::ptrdiff_t>(characters), !fault->confirmed,
                      -static_cast<int>(fault->severity), fault);
  }
};

}  // namespace

struct Library::State {
  std::filesystem::path folder;
  std::vector<Fault> faults;
  PatternSet patterns;
  std::vector<std::vector<std::uint32_t>> shows;        ///< by pattern: its faults
  std::vector<std::vector<PatternSet::Number>> unless;  ///< by fault
  mutable std::once_flag compared;
  mutable std::optional<Likeness> likeness;

  void number_patterns() {
    unless.resize(faults.size());
    for (std::uint32_t i = 0; i < faults.size(); ++i) {
      for (const auto& pattern : faults[i].unless) unless[i].push_back(patterns.add(pattern));
      for (const auto& pattern : faults[i].patterns) {
        const PatternSet::Number number = patterns.add(pattern);
        if (number >= shows.size()) shows.resize(number + 1);
        shows[number].push_back(i);
      }
    }
    shows.resize(patterns.size());
    patterns.build();
  }

  /// Faults with a matching pattern, each with its most specific one. Applies `unless`, but no
  /// conditions.
  std::vector<Answer> shown_by(std::string_view text) const {
    const std::vector<PatternSet::Number> matching = patterns.matching(text);
    std::vector<Answer> shown;
    for (const PatternSet::Number number : matching)
      for (const std::uint32_t fault : shows[number])
        shown.push_back({&faults[fault], patterns.at(number).literals().characters});
    std::ranges::sort(shown, {}, &Answer::rank);
    std::set<const Fault*> seen;
    std::erase_if(shown, [&](const Answer& one) {
      const auto& forbidden = unless[static_cast<std::size_t>(one.fault - faults.data())];
      return !seen.insert(one.fault).second ||
             std::ranges::any_of(forbidden, [&](PatternSet::Number number) {
               return std::ranges::binary_search(matching, number);
             });
    });
    return shown;
  }
};

Library::Library() : state_(std::make_unique<State>()) {}
Library::Library(std::unique_ptr<State> state) : state_(std::move(state)) {}
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;
Library::~Library() = default;

Result<Library> Library::load(const std::filesystem::path& folder) {
  auto faults = read_folder(folder);
  if (!faults) return std::unexpected(faults.error());
  auto state = std::make_unique<State>();
  state->folder = folder;
  state->faults = std::move(*faults);
  state->number_patterns();
  return Library(std::move(state));
}

Library Library::with(std::vector<Fault> more) const {
  auto state = std::make_unique<State>();
  state->folder = state_->folder;
  const auto replaced = [&](const Fault& fault) {
    return std::ranges::find(more, fault.id, &Fault::id) != more.end();
  };
  for (const Fault& fault : state_->faults)
    if (!replaced(fault)) state->faults.push_back(fault);
  std::ranges::move(more, std::back_inserter(state->faults));
  state->number_patterns();
  return Library(std::move(state));
}

std::vector<const Fault*> Library::match(std::string_view template_text,
                                         std::span<const wire::Parameter> parameters) const {
  Evidence evidence(template_text, parameters);
  std::vector<const Fault*> found;
  for (const Answer& one : state_->shown_by(template_text))
    if (evidence.meets_all(one.fault->conditions)) found.push_back(one.fault);
  return found;
}

std::span<const Fault> Library::faults() const {
  return state_->faults;
}

const Fault* Library::find(std::string_view id) const {
  const auto found = std::ranges::find(state_->faults, id, &Fault::id);
  return found == state_->faults.end() ? nullptr : &*found;
}

const Likeness& Library::likeness() const {
  std::call_once(state_->compared, [&] { state_->likeness.emplace(state_->faults); });
  return *state_->likeness;
}

const std::filesystem::path& Library::folder() const {
  return state_->folder;
}

}  // namespace l4::faults
