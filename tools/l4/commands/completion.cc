#include "tools/l4/commands/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <vector>

#include "tools/l4/commands/command_line.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

/// A command with the words that lead to it.
struct WordedCommand {
  std::string path;  ///< "faults list"; empty: the program itself
  std::string what;
  std::vector<std::string> inner;  ///< names of its own commands
  const CLI::App* app;
};

void collect(const CLI::App& app, const std::string& path, std::vector<WordedCommand>& to) {
  WordedCommand command{path, app.get_description(), {}, &app};
  for (const CLI::App* inner : app.get_subcommands({})) command.inner.push_back(inner->get_name());
  to.push_back(command);
  for (const CLI::App* inner : app.get_subcommands({}))
    collect(*inner, path.empty() ? inner->get_name() : path + " " + inner->get_name(), to);
}

/// The names of an option as they are written; a positional one has none.
std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.get_snames()) words.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.push_back("--" + name);
  return words;
}

/// `text|json` of the type; empty where any value will do.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool names_kinds = std::ranges::none_of(type, [](char c) { return c >= 'a' && c <= 'z'; });
  return names_kinds || type.find('|') == std::string::npos ? std::vector<std::string>{}
                                                            : CLI::detail::split(type, '|');
}

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

std::string bash_script(const std::vector<WordedCommand>& commands) {
  std::string paths, values, options, inner;
  for (const WordedCommand& command : commands) {
    if (!command.path.empty())
      paths += fmt::format("{}'{}'", paths.empty() ? "" : " | ", command.path);
    std::vector<std::string> all;
    for (const CLI::Option* option : command.app->get_options()) {
      const auto words = words_of(*option);
      std::ranges::copy(words, std::back_inserter(all));
      if (const auto given = values_of(*option); !given.empty())
        for (const std::string& word : words)
          values +=
              fmt::format("    '{} {}') offered='{}' ;;\n", command.path, word, joined(given));
    }
    options += fmt::format("    '{}') offered='{}' ;;\n", command.path, joined(all));
    if (!command.inner.empty())
      inner += fmt::format("    '{}') offered='{}' ;;\n", command.path, joined(command.inner));
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

/// The same with zsh's emulation of bash's completion. As `_l4` in a folder of $fpath it is the
/// body of a function that is called for the first question, and answers that, too.
std::string zsh_script(const std::vector<WordedCommand>& commands) {
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

std::string fish_script(const std::vector<WordedCommand>& commands) {
  std::string script =
      "function __l4_at\n"
      "  set -l words (commandline -opc)\n"
      "  string match -q -r -- \"^l4 $argv[1]( |\\$)\" \"$words\"\n"
      "end\n";
  for (const WordedCommand& command : commands) {
    const bool program = command.path.empty();
    const std::string when =
        program ? "__fish_use_subcommand" : fmt::format("__l4_at \"{}\"", command.path);
    for (const CLI::App* inner : command.app->get_subcommands({}))
      script += fmt::format("complete -c l4 -f -n '{}' -a {} -d {}\n", when, inner->get_name(),
                            quoted(inner->get_description()));
    for (const CLI::Option* option : command.app->get_options()) {
      if (words_of(*option).empty()) continue;
      script += fmt::format("complete -c l4 -n '{}'", when);
      for (const std::string& name : option->get_snames()) script += " -s " + name;
      for (const std::string& name : option->get_lnames()) script += " -l " + name;
      if (const auto given = values_of(*option); !given.empty())
        script += fmt::format(" -x -a '{}'", joined(given));
      else if (option->get_items_expected_max() > 0)
        script += " -r";
      script += fmt::format(" -d {}\n", quoted(option->get_description()));
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
  CLI::App app;
  const std::vector<terminal::Command> table = commands();
  fill(app, table);
  std::vector<WordedCommand> commands;
  collect(app, "", commands);
  std::cout << (options.shell == "fish"  ? fish_script(commands)
                : options.shell == "zsh" ? zsh_script(commands)
                                         : bash_script(commands));
  return terminal::finish_output("l4 completion");
}

}  // namespace l4::commands
