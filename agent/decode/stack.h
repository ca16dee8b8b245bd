// The functions on the stack of a Python traceback.
//
// agent/decode/fold.h collects the frames while it joins the lines; agent/segment derives the stage
// of the program from them. A stack is text with a line `parent/file.py:function` for each frame,
// outermost first; frames beyond kStackBytesMax are left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace l4::decode {

inline constexpr std::size_t kStackBytesMax = 4096;

/// Appends the frame that `  File "/a/b/c.py", line 3, in f` shows, if it shows one.
void append_frame(std::string_view line, std::string& stack);

}  // namespace l4::decode
