#include "tools/l4/commands/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

#include "tools/l4/commands/command_line.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

using terminal::CommandOutline;
using terminal::OptionOutline;

/// The names of an option as they are written; a positional one has none.
std::vector<std::string> words_of(const OptionOutline& option) {
  std::vector<std::string> words;
  words.reserve(option.short_names.size() + option.long_names.size());
  for (const std::string& name : option.short_names) words.push_back("-" + name);
  for (const std::string& name : option.long_names) words.push_back("--" + name);
  return words;
}

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

std::string bash_script(const std::vector<CommandOutline>& commands) {
  std::string paths, values, options, inner;
  for (const CommandOutline& command : commands) {
    if (!command.path.empty())
      paths += fmt::format("{}'{}'", paths.empty() ? "" : " | ", command.path);
    std::vector<std::string> all;
    for (const OptionOutline& option : command.options) {
      const auto words = words_of(option);
      std::ranges::copy(words, std::back_inserter(all));
      if (option.words.empty()) continue;
      for (const std::string& word : words)
        values +=
            fmt::format("    '{} {}') offered='{}' ;;\n", command.path, word, joined(option.words));
    }
    options += fmt::format("    '{}') offered='{}' ;;\n", command.path, joined(all));
    std::vector<std::string> names;
    names.reserve(command.inner.size());
    for (const CommandOutline::Inner& one : command.inner) names.push_back(one.name);
    if (!names.empty())
      inner += fmt::format("    '{}') offered='{}' ;;\n", command.path, joined(names));
  }
  return fmt::format(R"(_l4_words() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command='' next='' offered='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{command:+$command }}${{COMP_WORDS[i]}}"
    case "$next" in
      {paths}) command=$next ;;
    esac
  done
  case "$command $before" in
{values}  esac
  if [[ -z $offered && $current == -* ]]; then
    case "$command" in
{options}    esac
  elif [[ -z $offered ]]; then
    case "$command" in
{inner}    esac
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}}
complete -o default -o bashdefault -F _l4_words l4
)",
                     fmt::arg("paths", paths), fmt::arg("values", values),
                     fmt::arg("options", options), fmt::arg("inner", inner));
}

/// The script for zsh, which emulates bash's completion. In a file `_l4` of $fpath, the script is
/// the body of a function that zsh calls at the first completion, so it also answers that one.
std::string zsh_script(const std::vector<CommandOutline>& commands) {
  return "#compdef l4\n"
         "autoload -Uz bashcompinit && bashcompinit\n" +
         bash_script(commands) +
         "if [[ $funcstack[1] == _l4 ]]; then\n"
         "  _bash_complete -o default -o bashdefault -F _l4_words\n"
         "fi\n";
}

/// Within single quotes of fish.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_script(const std::vector<CommandOutline>& commands) {
  std::string script =
      "function __l4_at\n"
      "  set -l words (commandline -opc)\n"
      "  string match -q -r -- \"^l4 $argv[1]( |\\$)\" \"$words\"\n"
      "end\n";
  for (const CommandOutline& command : commands) {
    const bool is_program = command.path.empty();
    const std::string when =
        is_program ? "__fish_use_subcommand" : fmt::format("__l4_at \"{}\"", command.path);
    for (const CommandOutline::Inner& inner : command.inner)
      script += fmt::format("complete -c l4 -f -n '{}' -a {} -d {}\n", when, inner.name,
                            quoted(inner.about));
    for (const OptionOutline& option : command.options) {
      if (words_of(option).empty()) continue;
      script += fmt::format("complete -c l4 -n '{}'", when);
      for (const std::string& name : option.short_names) script += " -s " + name;
      for (const std::string& name : option.long_names) script += " -l " + name;
      if (!option.words.empty())
        script += fmt::format(" -x -a '{}'", joined(option.words));
      else if (option.has_value)
        script += " -r";
      script += fmt::format(" -d {}\n", quoted(option.about));
    }
  }
  return script;
}

}  // namespace

const char* const kCompletionFooter =
    R"(Examples:
  source <(l4 completion bash)                  in ~/.bashrc
  source <(l4 completion zsh)                   in ~/.zshrc
  l4 completion fish | source                   in ~/.config/fish/config.fish
An install (cmake --install) brings all three to where shells look for them.

Exit status:
  0   here is the script
  2   wrong use, or output that cannot be written)";

void add_completion(terminal::Options& to, CompletionOptions& options) {
  to.value("SHELL", options.shell, "", "bash, zsh or fish")
      .required()
      .one_of({"bash", "zsh", "fish"});
}

int run_completion(const CompletionOptions& options) {
  const std::vector<CommandOutline> outlines = terminal::outline_of(program(), commands());
  std::cout << (options.shell == "fish"  ? fish_script(outlines)
                : options.shell == "zsh" ? zsh_script(outlines)
                                         : bash_script(outlines));
  return terminal::finish_output("l4 completion");
}

}  // namespace l4::commands
