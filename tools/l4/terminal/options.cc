#include "tools/l4/terminal/options.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

#include "tools/l4/terminal/suggest.h"

namespace l4::terminal {

OptionRow& OptionRow::required() {
  option_->required();
  return *this;
}

OptionRow& OptionRow::in_group(const char* group) {
  option_->group(group);
  return *this;
}

OptionRow& OptionRow::one_of(std::vector<std::string> words) {
  option_->check(terminal::one_of(std::move(words)));
  return *this;
}

OptionRow& OptionRow::between(unsigned least, unsigned most) {
  option_->check(CLI::Range(least, most).description(""));
  return *this;
}

OptionRow& OptionRow::one_each_time() {
  option_->allow_extra_args(false);
  return *this;
}

OptionRow& OptionRow::only_one() {
  option_->expected(1);
  return *this;
}

template <class T>
OptionRow Options::value(const char* name, T& to, const char* type, const char* help) {
  return OptionRow(*command_->add_option(name, to, help)->type_name(type));
}

template OptionRow Options::value(const char*, std::string&, const char*, const char*);
template OptionRow Options::value(const char*, std::filesystem::path&, const char*, const char*);
template OptionRow Options::value(const char*, std::optional<std::filesystem::path>&, const char*,
                                  const char*);
template OptionRow Options::value(const char*, double&, const char*, const char*);
template OptionRow Options::value(const char*, unsigned&, const char*, const char*);
template OptionRow Options::value(const char*, std::size_t&, const char*, const char*);
template OptionRow Options::value(const char*, std::vector<std::string>&, const char*, const char*);
template OptionRow Options::value(const char*, std::vector<std::filesystem::path>&, const char*,
                                  const char*);

OptionRow Options::flag(const char* name, bool& to, const char* help) {
  return OptionRow(*command_->add_flag(name, to, help));
}

OptionRow Options::format(std::string& to) {
  return value("-o,--output,--format", to, "text|json", "for people (default), or programs")
      .one_of({"text", "json"});
}

}  // namespace l4::terminal
