#include "aggregator/faults/self_test.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "aggregator/faults/pattern.h"
#include "common/base/check.h"
#include "common/config/config_table.h"
#include "common/drain/mask.h"
#include "common/parameters/parameters.h"

namespace l4::faults {
namespace {

/// A line in one of the forms in which the library may get it.
struct Form {
  const char* name;
  std::string text;
  std::vector<wire::Parameter> parameters;
};

std::vector<Form> forms_of(const std::string& line, const LineReading& reading) {
  std::vector<Form> forms;
  const auto add = [&](const char* name, std::string text, const std::string& source) {
    if (std::ranges::find(forms, text, &Form::text) != forms.end()) return;
    forms.push_back({name, std::move(text), {}});
    parameters::extract(source, forms.back().parameters);
  };
  const auto template_of = [&](const std::string& text) {
    return drain::text(drain::masked_row(text, reading.codes));
  };
  const std::string message = reading.message_of(line);
  add("", line, line);
  add("the message ", message, message);
  add("the template ", template_of(message), message);
  add("with its prefix the template ", template_of(line), line);
  return forms;
}

class SelfTest {
 public:
  SelfTest(const Library& library, const LineReading& reading)
      : library_(library), reading_(reading) {}

  std::vector<EntryError> run() {
    for (const Fault& fault : library_.faults()) {
      words(fault);
      patterns(fault);
      for (std::size_t i = 0; i < fault.matches.size(); ++i) match(fault, i);
      for (std::size_t i = 0; i < fault.rejects.size(); ++i) reject(fault, i);
    }
    locate();
    return std::move(findings_);
  }

 private:
  struct EntryElement {
    const Fault* fault;
    std::size_t element;
  };

  void add(const Fault& fault, const char* key, std::size_t element, const std::string& value,
           std::string reason) {
    findings_.push_back({"", 0, fault.id, key, value, std::move(reason)});
    elements_.push_back({&fault, element});
  }

  void words(const Fault& fault) {
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (!std::ranges::all_of(fault.id, plain))
      add(fault, "id", 0, fault.id, "must be of a-z, 0-9 and _");
    const auto [at, first] = titles_.try_emplace(fault.title, &fault);
    if (!first) add(fault, "title", 0, fault.title, "is the title of " + at->second->id + " too");
    if (fault.title.size() > kTitleMax || fault.title.ends_with('.'))
      add(fault, "title", 0, fault.title,
          fmt::format("must have at most {} characters and no full stop", kTitleMax));
    sentence(fault, "cause", fault.cause);
    sentence(fault, "fix", fault.fix);
  }

  void sentence(const Fault& fault, const char* key, const std::string& text) {
    auto& users = sentences_[text];
    users.push_back(&fault);
    if (users.size() > kSentenceUsesMax)
      add(fault, key, 0, text,
          fmt::format("stands in {} entries before, first in {}; say how they differ",
                      users.size() - 1, users.front()->id));
  }

  void patterns(const Fault& fault) {
    for (std::size_t i = 0; i < fault.patterns.size(); ++i) {
      const std::string& pattern = fault.patterns[i];
      const std::string expanded = expand_pattern(pattern);
      if (pattern.find("<*>") != pattern.npos)
        add(fault, "patterns", i, pattern, "<*> stands for itself; write {n} or {w}");
      if (fault.conditions.empty() && literals_of(expanded).longest() < kLiteralMin)
        add(fault, "patterns", i, pattern,
            fmt::format("has no {} constant characters in a row, and no code is asked for",
                        kLiteralMin));
      const re2::RE2 regexp(expanded, re2::RE2::Quiet);
      const auto meets = [&](const std::string& line) {
        return re2::RE2::PartialMatch(line, regexp);
      };
      if (std::ranges::none_of(fault.matches, meets))
        add(fault, "patterns", i, pattern, "no line of matches is there for it");
    }
  }

  void match(const Fault& fault, std::size_t element) {
    for (const Form& form : forms_of(fault.matches[element], reading_)) {
      const auto found = library_.match(form.text, form.parameters);
      if (!found.empty() && found.front() == &fault) continue;
      const bool shown = std::ranges::find(found, &fault) != found.end();
      std::string reason = shown ? fmt::format("is told after {}", found.front()->id)
                                 : std::string("is not matched");
      if (*form.name != '\0') reason = fmt::format("{}'{}' {}", form.name, form.text, reason);
      return add(fault, "matches", element, fault.matches[element], std::move(reason));
    }
  }

  void reject(const Fault& fault, std::size_t element) {
    for (const Form& form : forms_of(fault.rejects[element], reading_)) {
      const auto found = library_.match(form.text, form.parameters);
      if (std::ranges::find(found, &fault) == found.end()) continue;
      std::string reason = "is matched";
      if (*form.name != '\0') reason = fmt::format("{}'{}' {}", form.name, form.text, reason);
      return add(fault, "rejects", element, fault.rejects[element], std::move(reason));
    }
  }

  /// Sets file and line of each finding.
  void locate() {
    L4_CHECK(elements_.size() == findings_.size(), "{} elements of {} findings", elements_.size(),
             findings_.size());
    std::map<std::string, std::vector<ConfigTable>> entries;  // by file
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      EntryError& finding = findings_[i];
      finding.file = (library_.folder() / (elements_[i].fault->family + ".toml")).string();
      const auto [at, created] = entries.try_emplace(finding.file);
      if (created)
        if (auto root = ConfigTable::load(finding.file)) at->second = root->tables("fault");
      for (ConfigTable& entry : at->second)
        if (entry.text_or("id", "") == finding.entry)
          finding.line = entry.line_of(finding.key, elements_[i].element);
    }
  }

  const Library& library_;
  const LineReading& reading_;
  std::vector<EntryError> findings_;
  std::vector<EntryElement> elements_;  ///< by finding
  std::map<std::string_view, const Fault*> titles_;
  std::map<std::string_view, std::vector<const Fault*>> sentences_;
};

}  // namespace

std::string EntryError::text() const {
  return fmt::format("{}:{}: {}: {}: {}: {}", file, line, entry, key, value, reason);
}

std::vector<EntryError> test(const Library& library, const LineReading& reading) {
  return SelfTest(library, reading).run();
}

}  // namespace l4::faults
