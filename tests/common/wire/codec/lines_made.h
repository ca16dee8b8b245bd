// A question for raw lines and an answer with every field filled, of a size that follows from a
// seed. For tests and fuzzing of common/wire/codec/lines_codec.h.
#pragma once

#include "common/wire/lines.h"

namespace l4::test {

inline wire::LinesQuestion made_question(unsigned seed) {
  wire::LinesQuestion question{"job-7",
                               {LocalTemplateId{3}, LocalTemplateId{seed}},
                               {"step <*> of <*>"},
                               {},
                               TimeMs{Millis{1'700'000'000'000}},
                               5,
                               200,
                               1 << 20,
                               10'000};
  for (unsigned i = 0; i <= seed % 5; ++i)
    question.files.push_back({"node-0/rank" + std::to_string(i) + ".log",
                              i % 2 == 0,
                              i % 3 == 0,
                              {{Rank{7}, std::nullopt, "node-0"}, {std::nullopt, 3, ""}},
                              40 + i,
                              TimeMs{Millis{1'700'000'000'001}}});
  return question;
}

inline wire::LinesAnswer made_answer(unsigned seed) {
  wire::LinesAnswer answer;
  answer.files = {"/logs/a.log", "/logs/a.log.1.gz"};
  for (unsigned i = 0; i <= seed % 9; ++i)
    answer.lines.push_back({i % 2, i, 100 * i, i, TimeMs{Millis{i}}, Rank{3}, "h",
                            std::string("\x1b[2J \0\xff text", 11), i % 2 == 0, i % 3 == 0});
  answer.gaps = {{wire::LinesGapKind::older, 1, "/logs/a.log", "begins later"},
                 {wire::LinesGapKind::limit_time, std::nullopt, "", "10 s were over"}};
  answer.bytes_read = 4096;
  answer.redacted = seed;
  return answer;
}

}  // namespace l4::test
