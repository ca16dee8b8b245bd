#include "offline/message_of.h"

#include "agent/decode/decoder.h"

namespace l4::offline {

std::string message_of(std::string_view line) {
  std::string message;
  decode::Decoder decoder({}, [&](const decode::Record& record) {
    if (message.empty()) message = record.text;
  });
  decoder.feed(line);
  decoder.finish();
  return message.empty() ? std::string(line) : message;
}

}  // namespace l4::offline
