// The frames of a Python traceback in short: which functions the program was in.
//
// agent/decode/fold.h collects them while it joins the lines, agent/segment reads from them in
// which stage the program was. A stack is text, outermost frame first, a line
// `parent/file.py:function` for each frame; at most kStackBytesMax, what is beyond is left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace l4::decode {

inline constexpr std::size_t kStackBytesMax = 4096;

/// Appends the frame that `  File "/a/b/c.py", line 3, in f` shows, if it shows one.
void append_frame(std::string_view line, std::string& stack);

}  // namespace l4::decode
