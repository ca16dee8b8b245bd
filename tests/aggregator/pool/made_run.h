// Runs for tests of the pool, made of texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aggregator/pool/run.h"

namespace l4::test {

inline pool::Event made_event(const std::string& text, Level level = Level::info) {
  return {TemplateId{std::hash<std::string>{}(text) | 1U}, text, level, 10, 0.125, 1};
}

/// `program` distinguishes kinds: each prints 20 lines of its own, and 6 that all print.
inline pool::Run made_run(const std::string& job, const std::string& program, TimeMs ended = {}) {
  pool::Run run;
  run.job = job;
  run.id = pool::run_id(job, 0);
  run.ended = ended;
  run.nodes = run.ranks = 4;
  run.lines = 1000;
  for (int i = 0; i < 20; ++i)
    run.events.push_back(made_event(program + " does part " +
                                    std::string(1, static_cast<char>('a' + i)) + " of its work"));
  for (const char* common : {"NCCL came up", "process group is ready", "seed is set",
                             "torch starts", "launcher says hello", "bye"})
    run.events.push_back(made_event(common));
  run.pauses = {{Stage::training, false, Millis{2'500}}, {Stage::init, true, Millis{40'000}}};
  return run;
}

}  // namespace l4::test
