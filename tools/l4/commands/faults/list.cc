#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "aggregator/serve/utf8.h"
#include "common/base/nearest.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/faults/json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::faults {
namespace {

std::string category_of(const l4::faults::Fault& fault) {
  return fmt::format("{}/{}", l4::faults::name(fault.category), fault.subcategory);
}

bool wanted(const l4::faults::Fault& fault, const FaultsOptions& options) {
  const bool category = options.category.empty() || options.category == category_of(fault) ||
                        options.category == l4::faults::name(fault.category);
  const bool confirmed = fault.confirmed.has_value() || !options.confirmed;
  return category && confirmed && (options.family.empty() || options.family == fault.family);
}

/// Refuses an unknown value and lists the values that the library has.
int refuse(const char* option, const std::string& given, const std::set<std::string>& known) {
  std::cerr << fmt::format("l4 faults list: {}: there is no {}", option, given);
  const std::vector<std::string> words(known.begin(), known.end());
  if (const auto near = nearest_word(given, words); !near.empty())
    std::cerr << fmt::format("; did you mean {}?", near);
  std::cerr << fmt::format("\nThere are: {}\n", fmt::join(words, ", "));
  return terminal::kWrongUse;
}

void write_rows(const std::vector<const l4::faults::Fault*>& shown, std::ostream& out) {
  std::size_t id = 0, family = 0, category = 0;
  std::set<std::string_view> families;
  for (const l4::faults::Fault* fault : shown) {
    id = std::max(id, fault->id.size());
    family = std::max(family, fault->family.size());
    category = std::max(category, category_of(*fault).size());
    families.insert(fault->family);
  }
  const std::size_t width =
      isatty(STDOUT_FILENO) != 0 ? terminal::width_of_output() : std::string::npos;
  for (const l4::faults::Fault* fault : shown)
    out << serve::cut(serve::harmless(fmt::format("{:{}}  {:{}}  {:{}}  {:7}  {}", fault->family,
                                                  family, fault->id, id, category_of(*fault),
                                                  category, name(fault->severity), fault->title)),
                      width)
        << '\n';
  out << fmt::format("\n{} faults in {} families\n", shown.size(), families.size());
}

}  // namespace

int list_faults(const FaultsOptions& options, const l4::faults::Library& library) {
  std::vector<const l4::faults::Fault*> shown;
  std::set<std::string> families, categories;
  for (const l4::faults::Fault& fault : library.faults()) {
    families.insert(fault.family);
    categories.insert({std::string(l4::faults::name(fault.category)), category_of(fault)});
    if (wanted(fault, options)) shown.push_back(&fault);
  }
  if (!options.family.empty() && !families.contains(options.family))
    return refuse("--family", options.family, families);
  if (!options.category.empty() && !categories.contains(options.category))
    return refuse("--category", options.category, categories);
  if (options.format == "json")
    std::cout << ask::tidied_json(to_json(shown)).value_or("");
  else
    write_rows(shown, std::cout);
  return terminal::finish_output("l4 faults list");
}

}  // namespace l4::commands::faults
