// Tells in which stage a program was from the functions on its stack.
//
// Flow: rule packs list functions (`[[stack]]`); agent/pipeline asks once per folded traceback. The
// innermost known function decides, except that everything called from training (data loading, a
// forward pass that builds something) stays training. Immutable after load, any thread may read.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/vocabulary.h"

namespace l4::segment {

class StackStages {
 public:
  /// `frame` is a function, or `file:function` if the function's name alone is ambiguous; `file` is
  /// a part of the path (`optim/`, `engine.py`).
  void add(std::string_view frame, Stage stage);

  /// Stage::unknown if no function is known. `stack` has the form of agent/decode/stack.h.
  Stage stage_of(std::string_view stack) const;

 private:
  struct Frame {
    std::string file;  ///< part of the path; empty: any
    Stage stage = Stage::unknown;
  };

  Stage stage_of_frame(std::string_view file, std::string_view function) const;

  std::map<std::string, std::vector<Frame>, std::less<>> by_function_;
};

}  // namespace l4::segment
