#include "agent/decode/stack.h"

#include "agent/text/scan.h"

namespace l4::decode {
namespace {

/// The file and the folder it stands in.
std::string_view tail_of(std::string_view path) {
  const auto file = path.rfind('/');
  if (file == std::string_view::npos || file == 0) return path;
  const auto folder = path.rfind('/', file - 1);
  return folder == std::string_view::npos ? path : path.substr(folder + 1);
}

}  // namespace

void append_frame(std::string_view line, std::string& stack) {
  constexpr std::string_view kFile = "File \"", kFunction = ", in ";
  const auto begin = line.find(kFile);
  if (begin == std::string_view::npos) return;
  const auto path = line.substr(begin + kFile.size());
  const auto end = path.find('"');
  if (end == std::string_view::npos) return;
  const auto function = path.find(kFunction, end);
  if (function == std::string_view::npos) return;
  const auto file = tail_of(path.substr(0, end));
  const auto name = text::trim(path.substr(function + kFunction.size()));
  if (stack.size() + file.size() + name.size() + 2 > kStackBytesMax) return;
  stack.append(file).append(1, ':').append(name).append(1, '\n');
}

}  // namespace l4::decode
