#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "aggregator/serve/json_reader.h"
#include "aggregator/serve/report_fields.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/utf8.h"

namespace l4::serve {
namespace {

/// The last word of each closed list; a name is found by trying all words.
template <class Word>
constexpr Word kLast{};
template <>
constexpr Level kLast<Level> = Level::fatal;
template <>
constexpr Stage kLast<Stage> = Stage::exit;
template <>
constexpr State kLast<State> = State::launch_failed;
template <>
constexpr Scope kLast<Scope> = Scope::unknown;
template <>
constexpr Role kLast<Role> = Role::consequence;
template <>
constexpr RankSource kLast<RankSource> = RankSource::derived;
template <>
constexpr diagnose::Why kLast<diagnose::Why> = diagnose::Why::stall;
template <>
constexpr diagnose::Process kLast<diagnose::Process> = diagnose::Process::stopped;
template <>
constexpr diagnose::clues::FactKind kLast<diagnose::clues::FactKind> =
    diagnose::clues::FactKind::score;
template <>
constexpr diagnose::clues::ClueKind kLast<diagnose::clues::ClueKind> =
    diagnose::clues::ClueKind::as_published;
template <>
constexpr diagnose::clues::Claim kLast<diagnose::clues::Claim> = diagnose::clues::Claim::event;
template <>
constexpr diagnose::Reply kLast<diagnose::Reply> = diagnose::Reply::refused;
template <>
constexpr wire::ParameterKind kLast<wire::ParameterKind> = wire::ParameterKind::duration_ms;

/// Reads the fields of one object, as the list of its type names them.
class FieldReader {
 public:
  explicit FieldReader(JsonMembers& members) : members_(members) {}

  template <class T>
  void operator()(std::string_view name, T& value) {
    members_.read(name, value);
  }
  void schema(std::string_view name) {
    const JsonValue* member = members_.needed(name);
    if (member == nullptr) return;
    const std::string_view said = member->text() != nullptr ? *member->text() : std::string_view();
    is_new_ = said == kReportSchema;
    if (is_new_ || said == kReportSchemaBefore) return;
    members_.fail(name,
                  "must be \"" + std::string(kReportSchema) + "\" or \"" +
                      std::string(kReportSchemaBefore) + '"',
                  *member);
  }
  /// Leaves the value as it is where the report is of the version before.
  template <class T>
  void new_field(std::string_view name, T& value) {
    if (is_new_) members_.read(name, value);
  }
  /// Leaves the value as it is where it was not written.
  template <class T>
  void optional_field(std::string_view name, T& value) {
    members_.read_if_any(name, value);
  }

 private:
  JsonMembers& members_;
  bool is_new_ = false;
};

}  // namespace

// Found by the argument `reader` where lists and optional values are read.
template <class T>
  requires std::is_enum_v<T>
void read_json(JsonReader& reader, const JsonValue& json, T& word) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(kLast<T>); ++i) {
    const T candidate = static_cast<T>(i);
    const bool same = is_null(candidate)
                          ? json.is_null()
                          : json.text() != nullptr && *json.text() == name(candidate);
    if (!same) continue;
    word = candidate;
    return;
  }
  reader.fail("is not a word of this list: " + shown_json(json));
}

void read_json(JsonReader& reader, const JsonValue& json, diagnose::Printed& value) {
  for (std::size_t i = 0; i < kNoNumbers.size(); ++i)
    if (json.text() != nullptr && *json.text() == kNoNumbers[i]) {
      value.number = kNoNumberValues[i];
      return;
    }
  if (const auto number = json.number(); number && std::isfinite(*number))
    value.number = *number;
  else
    reader.fail("must be a number, \"NaN\", \"Infinity\" or \"-Infinity\"", json);
}

template <class T>
  requires requires(FieldReader& fields_of, T& value) { fields(fields_of, value); }
void read_json(JsonReader& reader, const JsonValue& json, T& structure) {
  JsonMembers members(reader, json);
  FieldReader visitor(members);
  fields(visitor, structure);
  members.end("is not of this format");
}

Result<diagnose::Report> report_from_json(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return std::unexpected(Error{"$", harmless("is not JSON: " + json.error().reason)});
  diagnose::Report report;
  JsonReader reader("$", JsonTimes::rfc3339);
  read_json(reader, *json, report);
  if (reader.error()) return std::unexpected(*reader.error());
  return report;
}

}  // namespace l4::serve
