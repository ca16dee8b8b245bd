#include "tools/l4/commands/setup/outcome.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <system_error>

#include "aggregator/serve/json_text.h"
#include "common/base/descriptor.h"
#include "common/config/config_dir.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/setup/machine.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/questions.h"

namespace l4::commands::setup {
namespace {

namespace fs = std::filesystem;
using terminal::Mark;
using terminal::Remark;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

/// The settings that an install puts there hold nothing of the site.
bool is_as_installed(const fs::path& file) {
  const fs::path shipped = find_config_dir() / file.filename();
  std::error_code ignored;
  return fs::is_regular_file(shipped, ignored) && content_of(shipped) == content_of(file);
}

Result<void> write_file(const fs::path& file, const std::string& text) {
  const auto failed = [&] {
    return std::unexpected(Error{file.string(), std::generic_category().message(errno)});
  };
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  // The program's user reads it, whatever our mask is; it holds no secret.
  if (out.number() < 0 || ::fchmod(out.number(), 0644) != 0) return failed();
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(out.number(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) return failed();
    done += static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
  }
  if (::fsync(out.number()) != 0) return failed();
  return {};
}

/// FILE.before, or FILE.before-2 and so on where that is there.
fs::path place_of_former(const fs::path& file) {
  std::error_code ignored;
  fs::path place = file.string() + ".before";
  for (int i = 2; fs::exists(place, ignored); ++i)
    place = fmt::format("{}.before-{}", file.string(), i);
  return place;
}

/// A folder of our own for settings that are only shown; gone with it.
struct Scratch {
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "l4_setup_XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path path;
};

Result<void> replace(const fs::path& made, Outcome& outcome) {
  std::error_code failed;
  if (fs::exists(outcome.file, failed)) {
    outcome.before = place_of_former(outcome.file);
    fs::rename(outcome.file, outcome.before, failed);
  }
  if (!failed) fs::rename(made, outcome.file, failed);
  if (failed) return std::unexpected(Error{outcome.file.string(), failed.message()});
  outcome.written = true;
  return {};
}

std::string json_of(const Outcome& outcome) {
  serve::JsonWriter json;
  json.open('{').member("schema", "l4.setup/1").member("file", outcome.file.string());
  json.member("written", outcome.written);
  json.member("before",
              outcome.before.empty() ? std::nullopt : std::optional(outcome.before.string()));
  json.member("settings", outcome.settings).key("remarks");
  terminal::write_remarks(json, outcome.remarks);
  json.member("next", outcome.next).close('}');
  return ask::tidied_json(json.release()).value_or("");
}

std::string page_of(const Outcome& outcome) {
  const std::size_t width = terminal::width_of_output();
  serve::Page page({.color = terminal::is_color_wanted(), .width = width});
  if (outcome.written) page.title({{"wrote " + outcome.file.string(), serve::Tone::strong}});
  if (!outcome.before.empty()) page.title({{"the former one is " + outcome.before.string()}});
  page.gap();
  terminal::append_remarks(page, outcome.remarks, width);
  page.gap();
  const std::size_t looks = terminal::count_looks(outcome.remarks);
  page.title({{terminal::verdict(looks), looks > 0 ? serve::Tone::bad : serve::Tone::good}});
  std::string text = page.release();
  if (outcome.next.empty()) return text;
  text += looks > 0 ? "\nthen\n" : "\nnext\n";
  for (const std::string& command : outcome.next) text += "  " + command + '\n';
  return text;
}

}  // namespace

Result<void> check_target(const CommonOptions& options) {
  if (options.print) return {};
  std::error_code ignored;
  if (fs::is_directory(options.out, ignored))
    return std::unexpected(Error{options.out.string(), "is a folder; --out names a file"});
  if (fs::exists(options.out, ignored) && !options.replace && !is_as_installed(options.out))
    return std::unexpected(Error{
        options.out.string(), "is there already. --replace writes a new one and keeps it as " +
                                  place_of_former(options.out).string() + "; --print only shows"});
  const fs::path folder = whole(options.out).parent_path();
  if (!is_writable_folder(folder))
    return std::unexpected(Error{folder.string(), "cannot be written; as root, or --out FILE"});
  return {};
}

Result<void> check_answers(const std::vector<std::pair<std::string_view, bool>>& options) {
  std::vector<std::string_view> missing;
  for (const auto& [name, given] : options)
    if (!given) missing.push_back(name);
  if (missing.empty() || terminal::can_ask()) return {};
  return std::unexpected(
      Error{"", fmt::format("there is no terminal to ask at; give {}", fmt::join(missing, ", "))});
}

Result<std::string> given_or_asked(const std::string& given, const std::string& question,
                                   const std::string& fallback,
                                   const std::function<Result<void>(const std::string&)>& check) {
  if (given.empty()) return terminal::ask(question, fallback, check);
  if (const auto fine = check(given); !fine) return std::unexpected(fine.error());
  return given;
}

Result<void> write_settings(const CommonOptions& options, const Reader& read, Outcome& outcome) {
  outcome.file = whole(options.out);
  std::optional<Scratch> scratch;
  fs::path made = outcome.file.string() + ".new";
  if (options.print) {
    scratch.emplace();
    made = scratch->path / outcome.file.filename();
  } else {
    std::error_code failed;
    fs::create_directories(made.parent_path(), failed);
    if (failed) return std::unexpected(Error{made.parent_path().string(), failed.message()});
  }
  auto done = write_file(made, outcome.settings);
  if (done) done = read(made);
  if (done && !options.print) done = replace(made, outcome);
  std::error_code ignored;
  fs::remove(made, ignored);
  return done;
}

std::string toml_text(std::string_view text) {
  std::string out;
  serve::append_json_text(out, text);  // the escapes of JSON are escapes of TOML
  return out;
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(toml_text(text));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

fs::path whole(const fs::path& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal();
}

Remark check_state(const Unit& unit, const fs::path& folder, const std::string& user) {
  Remark remark{Mark::fine, "state", folder.string(), ""};
  const bool by_unit = unit.is_installed() && is_systemd_here();
  if (by_unit && folder == unit.state) {
    remark.text += ", which systemd makes for the unit";
  } else if (by_unit && !unit.may_write(folder)) {
    remark = {
        Mark::look, "state",
        fmt::format("the unit {} may not write {}", unit.name, folder.string()),
        fmt::format("leave --state out, or give the unit ReadWritePaths={}", folder.string())};
  } else if (!is_writable_folder(folder)) {
    remark = {Mark::look, "state", fmt::format("{} cannot be written by {}", folder.string(), user),
              fmt::format("install -d -o {} -m 0700 {}", user, folder.string())};
  }
  return remark;
}

std::string start_command(const Unit& unit, const fs::path& file) {
  if (unit.is_installed() && unit.config == file && is_systemd_here())
    return "systemctl enable --now " + unit.name;
  std::error_code failed;
  const fs::path beside = fs::read_symlink("/proc/self/exe", failed).parent_path() / unit.name;
  const bool there = !failed && fs::exists(beside, failed);
  return fmt::format("{}{} --config {}",
                     ::geteuid() == 0 && is_user(unit.user) ? without_systemd(unit) : "",
                     there ? beside.string() : unit.name, file.string());
}

int show(const Outcome& outcome, const CommonOptions& options, std::string_view program) {
  int written = terminal::kDone;
  if (options.format == "json") {
    written = terminal::write_text(json_of(outcome), {}, program);
  } else if (options.print) {
    // What was found goes elsewhere, so that the settings alone can be kept.
    std::cerr << page_of(outcome);
    written = terminal::write_text(outcome.settings, {}, program);
  } else {
    written = terminal::write_text(page_of(outcome), {}, program);
  }
  if (written != terminal::kDone) return written;
  return terminal::count_looks(outcome.remarks) > 0 ? terminal::kFailureFound : terminal::kDone;
}

}  // namespace l4::commands::setup
