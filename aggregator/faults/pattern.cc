#include "aggregator/faults/pattern.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace l4::faults {
namespace {

constexpr std::size_t kSurelySmall = 500;  ///< characters

re2::RE2::Options options() {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_never_capture(true);
  options.set_max_mem(static_cast<std::int64_t>(kPatternBytesMax));
  return options;
}

/// True if the compiled form may need much more memory than the regexp: repetitions with a count
/// are unrolled, and classes of letters of all languages are long.
bool may_be_large(std::string_view regexp) {
  if (regexp.size() > kSurelySmall) return true;
  const auto counted = [&](std::size_t at) {
    return at + 1 < regexp.size() && regexp[at + 1] >= '0' && regexp[at + 1] <= '9';
  };
  for (auto at = regexp.find('{'); at != regexp.npos; at = regexp.find('{', at + 1))
    if (counted(at)) return true;
  return regexp.find("\\p") != regexp.npos || regexp.find("\\P") != regexp.npos;
}

/// The error of parsing without compiling, which lasts an eighth of the time.
std::string syntax_error(const std::string& regexp) {
  re2::RE2::Set set(options(), re2::RE2::UNANCHORED);
  std::string error;
  return set.Add(regexp, &error) < 0 ? error : std::string();
}

}  // namespace

std::string error_of(const std::string& regexp) {
  if (auto error = syntax_error(regexp); !error.empty()) return error;
  const bool selective = !literals_of(regexp).groups.empty();
  if (selective && !may_be_large(regexp)) return {};
  const re2::RE2 compiled(regexp, options());
  if (!compiled.ok()) return compiled.error();
  return re2::RE2::PartialMatch("", compiled) ? "matches every line" : "";
}

struct Pattern::Compiled {
  std::string source;
  std::once_flag once;
  std::optional<re2::RE2> regexp;

  const re2::RE2& get() {
    std::call_once(once, [&] {
      regexp.emplace(source, options());
      L4_CHECK(regexp->ok(), "pattern {}: {}, and error_of() did not say so", source,
               regexp->error());
    });
    return *regexp;
  }
};

Pattern::Pattern(std::string regexp)
    : literals_(literals_of(regexp)), compiled_(std::make_unique<Compiled>()) {
  compiled_->source = std::move(regexp);
}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::may_match(std::string_view plain_text) const {
  return std::ranges::all_of(literals_.groups, [&](const auto& texts) {
    return std::ranges::any_of(
        texts, [&](const auto& text) { return plain_text.find(text) != plain_text.npos; });
  });
}

bool Pattern::matches(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->get());
}

}  // namespace l4::faults
