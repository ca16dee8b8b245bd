#include "aggregator/faults/library.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "aggregator/faults/library_reader.h"
#include "common/base/config_table.h"
#include "common/wire/parameters.h"

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

/// The event's own values; those of the text are extracted when a condition first needs them.
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
    if (!extracted_) wire::extract_parameters(text_, extracted_.emplace());
    return *extracted_;
  }

  std::string_view text_;
  std::span<const wire::Parameter> given_;
  std::optional<std::vector<wire::Parameter>> extracted_;
};

/// Order of `match`: smaller is told first; the place in the files settles ties.
auto rank_of(const Fault* fault) {
  return std::tuple(fault->consequence, fault->conditions.empty(),
                    -static_cast<int>(fault->severity), fault);
}

}  // namespace

struct Library::State {
  std::vector<Fault> faults;
  std::unique_ptr<re2::RE2::Set> set;
  struct Owner {
    std::size_t fault = 0;
    bool forbids = false;  ///< stands in `unless`
  };
  std::vector<Owner> owners;  ///< of each pattern in the set

  void add(const std::string& pattern, Owner owner) {
    set->Add(expand_pattern(pattern), nullptr);  // the reader has seen it compile
    owners.push_back(owner);
  }
};

Library::Library() : state_(std::make_unique<State>()) {}
Library::Library(std::unique_ptr<State> state) : state_(std::move(state)) {}
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;
Library::~Library() = default;

Result<Library> Library::load(const std::filesystem::path& folder) {
  auto files = list_config_files(folder);
  if (!files) return std::unexpected(files.error());
  auto state = std::make_unique<State>();
  std::vector<std::string> ids;
  for (const auto& file : *files) {
    auto entries = read_entries(file, ids);
    if (!entries) return std::unexpected(entries.error());
    std::ranges::move(*entries, std::back_inserter(state->faults));
  }
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(64 << 20);
  state->set = std::make_unique<re2::RE2::Set>(options, re2::RE2::UNANCHORED);
  for (std::size_t i = 0; i < state->faults.size(); ++i) {
    for (const auto& pattern : state->faults[i].patterns) state->add(pattern, {i, false});
    for (const auto& pattern : state->faults[i].unless) state->add(pattern, {i, true});
  }
  if (!state->set->Compile())
    return std::unexpected(Error{folder.string(), "all patterns together need too much memory"});
  return Library(std::move(state));
}

std::vector<const Fault*> Library::match(std::string_view template_text,
                                         std::span<const wire::Parameter> parameters) const {
  std::vector<const Fault*> found;
  std::vector<int> patterns;
  const re2::StringPiece text(template_text.data(), template_text.size());
  if (!state_->set || !state_->set->Match(text, &patterns)) return found;
  std::set<std::size_t> shown, forbidden;
  for (const int pattern : patterns) {
    const auto& owner = state_->owners[static_cast<std::size_t>(pattern)];
    (owner.forbids ? forbidden : shown).insert(owner.fault);
  }
  Evidence evidence(template_text, parameters);
  for (const std::size_t index : shown) {
    const Fault& fault = state_->faults[index];
    if (!forbidden.contains(index) && evidence.meets_all(fault.conditions)) found.push_back(&fault);
  }
  std::ranges::sort(found, {}, rank_of);
  return found;
}

std::span<const Fault> Library::faults() const {
  return state_->faults;
}

const Fault* Library::find(std::string_view id) const {
  const auto found = std::ranges::find(state_->faults, id, &Fault::id);
  return found == state_->faults.end() ? nullptr : &*found;
}

}  // namespace l4::faults
