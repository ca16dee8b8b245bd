// Questions for raw lines under way: the agents they wait for, the lines so far, their end.
// Flow: Aggregator::lines -> here -> AgentServer::ask; answers come back through Intake. Belongs to
// the receive thread; no lock, no clock. Answers of agents are not trusted: parts that were not
// asked for, come late or are too large are dropped, and the result says what it lacks. Bounds:
// LinesOptions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "aggregator/fetch/lines.h"
#include "aggregator/receive/agent_server.h"

namespace l4::fetch {

class LinesBoard {
 public:
  explicit LinesBoard(LinesOptions options) : options_(options) {}

  /// Calls `then` once, now or from a later call. False: too many questions are under way, and
  /// `then` is never called.
  bool ask(receive::AgentServer& server, LinesPlan plan, LinesThen then, Millis now);
  void answered(const std::string& agent, const wire::Answer& answer, Millis now);
  /// The connection of the agent has ended or was replaced: earlier questions will not be answered.
  void gone(const std::string& agent, Millis now);
  /// Ends questions that wait too long.
  void step(Millis now);

  std::size_t under_way() const { return questions_.size(); }

 private:
  struct Asked {
    AgentQuestion of;
    std::size_t parts = 0;
    std::vector<GivenLine> lines;
  };
  struct Question {
    std::map<std::uint64_t, Asked> waits;                 ///< by number of the ask
    std::map<std::string, std::vector<GivenLine>> lines;  ///< by agent
    LinesResult result;
    std::uint64_t bytes = 0;  ///< size of its lines
    LinesThen then;
    Millis since{0};
  };
  void merge(Question& question, Asked& asked, wire::LinesAnswer part);
  static void miss(Question& question, const Asked& asked, wire::LinesGapKind kind,
                   std::string text);
  void close_ask(std::map<std::uint64_t, Question>::iterator question, std::uint64_t number,
                 bool answered, Millis now);
  void finish(std::map<std::uint64_t, Question>::iterator question, Millis now);

  LinesOptions options_;
  std::map<std::uint64_t, Question> questions_;
  std::map<std::uint64_t, std::uint64_t> question_of_;  ///< by number of the ask
  std::uint64_t asks_made_ = 0, questions_made_ = 0;
};

}  // namespace l4::fetch
