#include "agent/daemon/raw_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "agent/discover/rotation.h"
#include "agent/tail/file_system.h"
#include "common/wire/codec/lines_codec.h"

namespace l4::daemon {
namespace {

namespace fs = std::filesystem;
using Gap = wire::LinesGapKind;

/// Template texts of one question: the agent's own, and those that came with the question.
constexpr std::size_t kTextsMax = 64;
constexpr std::size_t kReadyMax = 64;

/// A file may be a log of its own, or the rotated file of another.
struct Names {
  std::string folder;
  std::array<std::string, 2> bases;
};

Names names_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  const std::string name = path.substr(slash + 1);
  return {path.substr(0, std::max<std::size_t>(slash, 1)),
          {name, discover::rotated_name(name).base}};
}

void add_text(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && texts.size() < kTextsMax && std::ranges::find(texts, text) == texts.end())
    texts.push_back(text);
}

}  // namespace

RawLines::RawLines(const Settings& settings, Jobs& jobs, OwnLog& log)
    : settings_(settings), jobs_(jobs), log_(log), desk_(tail::real_file_system()) {}

void RawLines::add(std::uint64_t number, const wire::LinesAnswer& part, bool last) {
  ready_.push_back({number, std::string(wire::kLinesTopic), wire::encode(part), last});
}

void RawLines::refuse(std::uint64_t number, Gap why, std::string text) {
  ++counts_.refused;
  wire::LinesAnswer answer;
  answer.gaps.push_back({why, std::nullopt, {}, std::move(text)});
  add(number, answer, true);
}

void RawLines::ask(const wire::Ask& question, const tail::Tailer* tailer, std::string_view busy,
                   Millis steady) {
  ++counts_.questions;
  if (ready_.size() >= kReadyMax) return;  // the link does not take answers: the question times out
  if (question.topic != wire::kLinesTopic) {
    ++counts_.refused;
    ready_.push_back({question.number, std::string(wire::kUnsupportedTopic), {}, true});
    return;
  }
  auto asked = wire::decode_lines_question(question.body);
  if (!asked) {
    log_.warn("a question for raw lines cannot be read: " + asked.error().text(), steady);
    return refuse(question.number, Gap::other,
                  "the question cannot be read: " + asked.error().text());
  }
  if (!settings_.lines_on)
    return refuse(question.number, Gap::off, "[lines] enabled = false on this node");
  if (!busy.empty()) {
    ++counts_.shed;
    return refuse(question.number, Gap::busy, std::string(busy));
  }
  const std::size_t logs = asked->files.size();
  if (!desk_.submit(task_of(question, std::move(*asked), tailer)))
    return refuse(question.number, Gap::busy,
                  fmt::format("{} questions are being answered", lines::Desk::kWaitingMax));
  log_.info(fmt::format("the aggregator asks for raw lines of {} logs of a job", logs), steady);
}

lines::Task RawLines::task_of(const wire::Ask& question, wire::LinesQuestion asked,
                              const tail::Tailer* tailer) {
  lines::Task task;
  task.number = question.number;
  task.decode = settings_.pipeline.decode;
  task.bounds = settings_.lines;
  task.redaction = settings_.redaction.get();
  task.secrets = settings_.secrets.get();
  task.codes = settings_.codes.get();
  if (const pipeline::JobPipeline* pipeline = jobs_.find(asked.job))
    for (const LocalTemplateId id : asked.templates) {
      const drain::TemplateMiner& miner = pipeline->miner();
      add_text(task.texts, miner.at(id).text);
      add_text(task.texts, miner.at(miner.canonical(id)).text);
    }
  for (const std::string& text : asked.texts) add_text(task.texts, text);
  const bool met = !asked.asks_template() || !task.texts.empty();
  task.question = std::move(asked);
  if (!met) {
    task.gaps.push_back({Gap::fewer, std::nullopt, {}, "the agent does not know the template"});
    return task;
  }
  auto sources = tail::Sources::compile(settings_.sources, settings_.excludes);
  if (!sources || tailer == nullptr) {
    task.gaps.push_back({Gap::not_followed, std::nullopt, {}, "no log is followed yet"});
    return task;
  }
  find_logs(task, *sources, *tailer);
  const auto own = std::make_shared<const tail::Sources>(std::move(*sources));
  task.may_read = [own](const lines::AskedLog& log, const std::string& name) {
    return own->wanted(log.folder, log.base, name) != tail::Wanted::no;
  };
  return task;
}

/// The name of a log is its path below the folder that [logs] sources names.
void RawLines::find_logs(lines::Task& task, const tail::Sources& sources,
                         const tail::Tailer& tailer) {
  std::map<std::string, std::vector<lines::AskedLog>, std::less<>> logs;  // by that name
  for (const wire::LinesFile& file : task.question.files) logs.try_emplace(file.path);
  for (const tail::Position& position : tailer.positions()) {
    const Names names = names_of(position.path);
    for (const std::string& base : names.bases) {
      const fs::path path = fs::path(names.folder) / base;
      const std::string root = sources.root_of(path.native());
      if (root.empty()) continue;
      const auto named = logs.find(path.lexically_relative(root).native());
      if (named == logs.end()) continue;
      std::vector<lines::AskedLog>& found = named->second;
      auto log = std::ranges::find(found, names.folder, &lines::AskedLog::folder);
      if (log == found.end()) log = found.insert(log, {0, names.folder, base, {}});
      log->known.emplace_back(position.file.device, position.file.inode);
    }
  }
  for (std::uint32_t i = 0; i < task.question.files.size(); ++i) {
    const std::string& name = task.question.files[i].path;
    const auto& found = logs.find(name)->second;
    if (found.empty())
      task.gaps.push_back({Gap::not_followed, i, name, "no such log is followed, or no longer"});
    for (lines::AskedLog log : found) {
      log.asked = i;
      task.logs.push_back(std::move(log));
    }
  }
}

bool RawLines::send(ship::Session& session) {
  if (session.state() != ship::Session::State::open) {
    ready_.clear();
    desk_.drop_all();  // the questions of a lost link are given up
    return false;
  }
  while (const auto done = desk_.poll())
    for (std::size_t i = 0; i < done->parts.size(); ++i) {
      const wire::LinesAnswer& part = done->parts[i];
      counts_.lines += part.lines.size();
      counts_.redacted += part.redacted;
      counts_.bytes_read += part.bytes_read;
      add(done->number, part, i + 1 == done->parts.size());
    }
  while (!ready_.empty() && session.answer(ready_.front())) ready_.pop_front();
  return !ready_.empty();
}

}  // namespace l4::daemon
