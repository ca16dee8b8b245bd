#include "aggregator/fetch/lines_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/check.h"
#include "common/wire/codec/lines_codec.h"

namespace l4::fetch {
namespace {

using Gap = wire::LinesGapKind;

constexpr std::size_t kPartsMax = 4096;      ///< parts in one agent's answer
constexpr std::size_t kMissingMax = 4096;    ///< entries in the whole answer
constexpr std::uint64_t kLineOverhead = 64;  ///< bytes counted for a line beside its text

}  // namespace

void LinesBoard::miss(Question& question, const Asked& asked, Gap kind, std::string text) {
  question.result.missing.push_back({kind, asked.of.agent, {}, {}, std::move(text)});
}

bool LinesBoard::ask(receive::AgentServer& server, LinesPlan plan, LinesThen then, Millis now) {
  if (questions_.size() >= options_.questions_max) return false;
  const auto question = questions_.try_emplace(++questions_made_).first;
  Question& own = question->second;
  own.then = std::move(then);
  own.since = now;
  own.result.agents_asked = plan.agents.size();
  own.result.missing = std::move(plan.missing);
  for (AgentQuestion& of : plan.agents) {
    const std::uint64_t number = ++asks_made_;
    const bool sent =
        server.ask(of.agent, {number, std::string(wire::kLinesTopic), wire::encode(of.question)});
    Asked asked{std::move(of), 0, {}};
    if (sent) {
      question_of_[number] = question->first;
      own.waits.emplace(number, std::move(asked));
    } else {
      miss(own, asked, Gap::not_connected, "the agent is not connected: its lines are on its node");
    }
  }
  if (own.waits.empty()) finish(question, now);
  return true;
}

void LinesBoard::merge(Question& question, Asked& asked, wire::LinesAnswer part) {
  LinesResult& result = question.result;
  result.bytes_read += part.bytes_read;
  result.redacted += part.redacted;
  const auto source_of = [&](std::uint32_t place) {
    return place < asked.of.sources.size() ? &asked.of.sources[place] : nullptr;
  };
  for (wire::LinesGap& gap : part.gaps) {
    if (result.missing.size() >= kMissingMax) break;
    const LinesSource* source = gap.asked ? source_of(*gap.asked) : nullptr;
    if (gap.asked && source != nullptr && gap.file.empty())
      gap.file = asked.of.question.files[*gap.asked].path;
    result.missing.push_back({gap.kind, asked.of.agent, source != nullptr ? source->node : "",
                              std::move(gap.file), std::move(gap.text)});
  }
  const std::size_t lines_max =
      asked.of.question.lines_max * (2 * std::size_t{asked.of.question.context} + 1);
  for (wire::RawLine& line : part.lines) {
    const LinesSource* source = source_of(line.asked);
    if (source == nullptr) continue;  // the question names no such source
    const std::uint64_t bytes = line.text.size() + kLineOverhead;
    if (asked.lines.size() >= lines_max || question.bytes + bytes > options_.answer_bytes_max) {
      miss(question, asked, Gap::limit_bytes, "the answer is longer than it may be");
      return;
    }
    question.bytes += bytes;
    result.text_bytes += line.text.size();
    GivenLine given;
    given.agent = asked.of.agent;
    const bool hosts = asked.of.question.files[line.asked].hosts && !line.host.empty();
    given.node = hosts ? line.host : source->node;
    given.file = part.files[line.file];
    given.rank = source->rank ? source->rank : line.rank;
    given.number = line.number;
    given.offset = line.offset;
    given.time = line.time;
    given.text = std::move(line.text);
    given.hit = line.hit;
    given.cut = line.cut;
    asked.lines.push_back(std::move(given));
  }
}

void LinesBoard::answered(const std::string& agent, const wire::Answer& answer, Millis now) {
  const auto named = question_of_.find(answer.number);
  if (named == question_of_.end()) return;  // late, or never asked
  const auto question = questions_.find(named->second);
  L4_CHECK(question != questions_.end() && question->second.waits.contains(answer.number),
           "ask {} is of question {}, which does not wait for it", answer.number, named->second);
  Asked& asked = question->second.waits.at(answer.number);
  if (asked.of.agent != agent) return;
  if (answer.topic != wire::kLinesTopic) {
    miss(question->second, asked, Gap::too_old,
         "this version of the agent cannot answer questions for raw lines");
    return close_ask(question, answer.number, false, now);
  }
  auto part = wire::decode_lines_answer(answer.body);
  if (!part || ++asked.parts > kPartsMax) {
    miss(question->second, asked, Gap::other,
         part ? "the answer has no end" : "the answer cannot be read: " + part.error().text());
    return close_ask(question, answer.number, false, now);
  }
  merge(question->second, asked, std::move(*part));
  if (answer.last) close_ask(question, answer.number, true, now);
}

void LinesBoard::gone(const std::string& agent, Millis now) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> lost;  // ask, question
  for (const auto& [number, question] : question_of_)
    if (questions_.at(question).waits.at(number).of.agent == agent)
      lost.emplace_back(number, question);
  for (const auto& [number, of] : lost) {
    const auto question = questions_.find(of);
    miss(question->second, question->second.waits.at(number), Gap::left,
         "the connection of the agent was lost before its answer was whole");
    close_ask(question, number, false, now);
  }
}

void LinesBoard::step(Millis now) {
  for (auto at = questions_.begin(); at != questions_.end();) {
    const auto question = at++;
    if (now - question->second.since < options_.timeout) continue;
    const std::string silent = fmt::format("no whole answer within {}", to_human(options_.timeout));
    for (const auto& [number, asked] : question->second.waits)
      miss(question->second, asked, Gap::no_answer, silent);
    finish(question, now);
  }
}

/// Notes that one agent has answered or never will.
void LinesBoard::close_ask(std::map<std::uint64_t, Question>::iterator question,
                           std::uint64_t number, bool answered, Millis now) {
  Question& own = question->second;
  const auto asked = own.waits.find(number);
  L4_CHECK(asked != own.waits.end(), "ask {} is closed twice", number);
  own.lines[asked->second.of.agent] = std::move(asked->second.lines);
  own.result.agents_answered += answered ? 1 : 0;
  own.waits.erase(asked);
  question_of_.erase(number);
  if (own.waits.empty()) finish(question, now);
}

void LinesBoard::finish(std::map<std::uint64_t, Question>::iterator question, Millis now) {
  Question own = std::move(question->second);
  questions_.erase(question);
  for (auto& [number, asked] : own.waits) {
    question_of_.erase(number);
    own.lines[asked.of.agent] = std::move(asked.lines);
  }
  for (auto& [agent, lines] : own.lines)
    std::ranges::move(lines, std::back_inserter(own.result.lines));
  own.result.took = now - own.since;
  own.then(std::move(own.result));
}

}  // namespace l4::fetch
