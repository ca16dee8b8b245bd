// The innermost known function gives the stage of a stack, and training stays training.
#include "agent/segment/stack_stages.h"

#include <doctest/doctest.h>

#include <string>

#include "agent/decode/stack.h"
#include "agent/segment/rule_pack.h"
#include "tests/temp_folder.h"

namespace l4::segment {
namespace {

TEST_CASE("a stack belongs to the stage of its innermost known function") {
  StackStages stages;
  stages.add("train_step", Stage::training);
  stages.add("optim/:step", Stage::training);
  stages.add("save_checkpoint", Stage::checkpoint_save);
  stages.add("from_pretrained", Stage::checkpoint_load);
  stages.add("get_model", Stage::model_build);
  const auto of = [&](const char* stack) { return stages.stage_of(stack); };
  CHECK(of("") == Stage::unknown);
  CHECK(of("x/a.py:main\n") == Stage::unknown);
  CHECK(of("x/a.py:main\nx/a.py:get_model\n") == Stage::model_build);
  CHECK(of("x/a.py:get_model\nx/a.py:from_pretrained\nx/a.py:load\n") == Stage::checkpoint_load);
  CHECK(of("x/a.py:train_step\nx/a.py:get_model\n") == Stage::training);
  CHECK(of("x/a.py:train_step\nx/a.py:save_checkpoint\n") == Stage::checkpoint_save);
  CHECK(of("optim/adamw.py:step\n") == Stage::training);
  CHECK(of("runtime/lr.py:step\n") == Stage::unknown);
  CHECK(of("no colon\n:\n") == Stage::unknown);
}

TEST_CASE("frames are read from the lines of a traceback") {
  std::string stack;
  decode::append_frame("  File \"/opt/m/training/train.py\", line 3, in train_step", stack);
  decode::append_frame("    File \"t.py\", line 34, in <module>", stack);
  decode::append_frame("  File \"/t.py\", line 34, in f", stack);
  decode::append_frame("  File \"cut.py", stack);
  decode::append_frame("  File \"cut.py\", line 3", stack);
  CHECK(stack == "training/train.py:train_step\nt.py:<module>\n/t.py:f\n");
  for (int i = 0; i < 1000; ++i)
    decode::append_frame("  File \"a/b.py\", line 1, in recursive", stack);
  CHECK(stack.size() <= decode::kStackBytesMax);
  CHECK(stack.ends_with("a/b.py:recursive\n"));
}

TEST_CASE("rule packs name the functions, and a bad row is refused by file, line and key") {
  auto shipped = RulePackSet::load(L4_SOURCE_DIR "/config/frameworks");
  REQUIRE_MESSAGE(shipped, shipped.error().text());
  CHECK(shipped->stage_of("torch/optim/adamw.py:x\noptim/adamw.py:step\n") == Stage::training);
  CHECK(shipped->stage_of("a/b.py:init_process_group\n") == Stage::init);

  const l4::test::TempFolder folder;
  std::string file;
  const auto refusal = [&](const char* rows) {
    file = folder.file("bad.toml", std::string("name = \"bad\"\n[[stack]]\n") + rows).string();
    auto loaded = RulePackSet::load(folder.path());
    return loaded ? std::string("loaded") : loaded.error().text();
  };
  CHECK(refusal("stage = \"init\"\nfunctions = [\"f\"]\n") == "loaded");
  CHECK(refusal("stage = \"nap\"\nfunctions = [\"f\"]\n").starts_with(file + ":3: stage: "));
  CHECK(refusal("stage = \"init\"\nfunctions = [\"\"]\n").starts_with(file + ":4: functions: "));
}

}  // namespace
}  // namespace l4::segment
