// The options of one command: what they are called, where their values go, what is allowed.
//
// Flow: a command adds its options -> the parser fills the values from the command line. CLI11
// stays behind this header, since it costs seconds a file. Values must live until the command line
// is parsed.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace l4::terminal {

/// An option that was added; its functions refine it.
class OptionRow {
 public:
  explicit OptionRow(CLI::Option& option) : option_(&option) {}

  OptionRow& required();
  /// The heading under which the help shows it.
  OptionRow& in_group(const char* group);
  OptionRow& one_of(std::vector<std::string> words);
  OptionRow& between(unsigned least, unsigned most);
  /// A list option has one value at each use.
  OptionRow& one_each_time();
  /// A list option has one value in all.
  OptionRow& only_one();

 private:
  CLI::Option* option_;
};

class Options {
 public:
  explicit Options(CLI::App& command) : command_(&command) {}

  /// `name`: "--out", "-o,--output", or "PATH" for a positional one; `type`: what the help
  /// calls its value. T: a string, path or number, or a list or optional of them.
  template <class T>
  OptionRow value(const char* name, T& to, const char* type, const char* help);
  OptionRow flag(const char* name, bool& to, const char* help);
  /// -o text|json; `to` already holds the default.
  OptionRow format(std::string& to);

 private:
  CLI::App* command_;
};

}  // namespace l4::terminal
