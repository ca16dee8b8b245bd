#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace l4 {
namespace {

constexpr std::size_t kTextBytesMax = 400;

std::string text_of(const CheckValue& value) {
  switch (value.kind()) {
    case CheckValue::Kind::boolean:
      return value.unsigned_integer() != 0 ? "true" : "false";
    case CheckValue::Kind::signed_integer:
      return std::to_string(value.signed_integer());
    case CheckValue::Kind::unsigned_integer:
      return std::to_string(value.unsigned_integer());
    case CheckValue::Kind::real:
      return std::to_string(value.real());
    case CheckValue::Kind::text:
      break;
  }
  return '"' + std::string(value.text().substr(0, kTextBytesMax)) + '"';
}

}  // namespace

void check_failed(const char* file, int line, const char* condition, std::string_view sentence,
                  std::initializer_list<CheckValue> values) {
  std::string text =
      std::string(file) + ':' + std::to_string(line) + ": check failed: " + condition + ": ";
  for (const CheckValue& value : values) {
    const std::size_t hole = sentence.find("{}");
    const bool found = hole != std::string_view::npos;
    text += sentence.substr(0, hole);
    if (!found) text += ' ';
    text += text_of(value);
    sentence.remove_prefix(found ? hole + 2 : sentence.size());
  }
  text += sentence;
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace l4
