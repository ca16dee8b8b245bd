#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aggregator/serve/report_fields.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/utf8.h"

namespace l4::serve {
namespace {

using Json = nlohmann::json;

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
constexpr wire::ParameterKind kLast<wire::ParameterKind> = wire::ParameterKind::duration_ms;

/// Reads one object; the first error is kept with its path and ends the reading.
class Reader {
 public:
  template <class T>
  void operator()(std::string_view key, T& value) {
    const Json* member = take(key);
    if (member == nullptr) return;
    const Step step(*this, "." + std::string(key));
    get(*member, value);
  }

  void constant(std::string_view key, std::string_view expected) {
    const Json* member = take(key);
    if (member == nullptr) return;
    const Step step(*this, "." + std::string(key));
    const bool same = member->is_string() && member->get_ref<const std::string&>() == expected;
    if (!same) fail("must be \"" + std::string(expected) + '"');
  }

  template <class T>
  void object(const Json& json, T& value) {
    if (!json.is_object()) return fail("must be an object");
    const Json* outer = std::exchange(object_, &json);
    auto taken_outer = std::exchange(taken_, {});
    fields(*this, value);
    if (!error_ && taken_.size() != json.size()) fail_unknown(json);
    object_ = outer;
    taken_ = std::move(taken_outer);
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  /// Adds one step to the path while it lives.
  class Step {
   public:
    Step(Reader& reader, const std::string& text) : path_(reader.path_), size_(path_.size()) {
      path_ += text;
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { path_.resize(size_); }

   private:
    std::string& path_;
    std::size_t size_;
  };

  const Json* take(std::string_view key) {
    if (error_) return nullptr;
    const auto found = object_->find(key);
    if (found == object_->end()) {
      const Step step(*this, "." + std::string(key));
      fail("is missing");
      return nullptr;
    }
    taken_.push_back(key);
    return &*found;
  }

  void fail_unknown(const Json& json) {
    constexpr std::size_t kShown = 60;
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(taken_, key) != taken_.end()) continue;
      const Step step(*this, "." + cut(harmless(key), kShown));
      return fail("is not of this format");
    }
  }

  void fail(std::string reason) {
    if (!error_) error_ = Error{path_, std::move(reason)};
  }

  void get(const Json& json, std::string& text) {
    if (!json.is_string()) return fail("must be a string");
    text = json.get_ref<const std::string&>();
  }
  void get(const Json& json, double& value) {
    if (!json.is_number()) return fail("must be a number");
    value = json.get<double>();
    if (!std::isfinite(value)) fail("must be a number");
  }
  void get(const Json& json, bool& value) {
    if (!json.is_boolean()) return fail("must be true or false");
    value = json.get<bool>();
  }
  template <std::integral T>
  void get(const Json& json, T& value) {
    if (!json.is_number_integer()) return fail("must be an integer");
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) return fail("is out of range");
    value = json.is_number_unsigned() ? static_cast<T>(json.get<std::uint64_t>())
                                      : static_cast<T>(json.get<std::int64_t>());
  }
  template <class Tag, class T>
  void get(const Json& json, Named<Tag, T>& id) {
    T value{};
    get(json, value);
    if (std::is_signed_v<T> && value < 0) return fail("must not be negative");
    id = Named<Tag, T>{value};
  }
  void get(const Json& json, TemplateId& id);
  void get(const Json& json, TimeMs& time) {
    const auto parsed =
        json.is_string() ? parse_time(json.get_ref<const std::string&>()) : std::nullopt;
    if (!parsed || to_rfc3339(*parsed) != json.get_ref<const std::string&>())
      return fail("must be a time such as 2026-11-20T15:54:42.120Z");
    time = *parsed;
  }
  template <class T>
    requires std::is_enum_v<T>
  void get(const Json& json, T& word) {
    for (std::size_t i = 0; i <= static_cast<std::size_t>(kLast<T>); ++i) {
      const T candidate = static_cast<T>(i);
      const bool same =
          is_null(candidate)
              ? json.is_null()
              : json.is_string() && json.get_ref<const std::string&>() == name(candidate);
      if (!same) continue;
      word = candidate;
      return;
    }
    fail("is not a word of this list");
  }
  template <class T>
  void get(const Json& json, std::optional<T>& value) {
    value.reset();
    if (json.is_null()) return;
    get(json, value.emplace());
  }
  template <class T>
  void get(const Json& json, std::vector<T>& list) {
    if (!json.is_array()) return fail("must be a list");
    list.clear();
    for (std::size_t i = 0; i < json.size() && !error_; ++i) {
      const Step step(*this, "[" + std::to_string(i) + "]");
      get(json[i], list.emplace_back());
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void get(const Json& json, T& structure) {
    object(json, structure);
  }

  const Json* object_ = nullptr;
  std::vector<std::string_view> taken_;  ///< keys that were read
  std::string path_ = "$";
  std::optional<Error> error_;
};

void Reader::get(const Json& json, TemplateId& id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string text = json.is_string() ? json.get<std::string>() : std::string();
  std::uint64_t value = 0;
  bool good = text.size() == 16;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    good = good && digit != std::string_view::npos;
    value = (value << 4) | (digit & 15);
  }
  if (!good) return fail("must be 16 hexadecimal digits");
  id = TemplateId{value};
}

}  // namespace

Result<diagnose::Report> report_from_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text.begin(), text.end());
  } catch (const Json::exception& broken) {
    return std::unexpected(Error{"$", harmless(std::string("is not JSON: ") + broken.what())});
  }
  diagnose::Report report;
  Reader reader;
  reader.object(json, report);
  if (reader.error()) return std::unexpected(*reader.error());
  return report;
}

}  // namespace l4::serve
