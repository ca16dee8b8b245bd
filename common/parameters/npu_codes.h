// Codes that NPU software prints, read at one place of a message: device and server events, results
// of the CANN runtime and of HCCL.
//
// Flow: the scanner of parameters.cc asks at every word that may begin one of the phrases below.
// The shape of the number decides what it is, so one phrase serves several. Values are spelled the
// same however a line spells them. No state, no allocation but the value. Forms:
//   "Event id=0x80e01801", "event_id:  [0x80e01801]", "FaultCode":"80E01801"  NPU 0x80E01801
//   "error code 0000001D", "| 0x0000001D | Asserted"                          BMC 0x0000001D
//   "alarmID=0x00f1ff09"                                                      switch 0x00F1FF09
//   "ErrCode=507011", "error code is 507011", "ret[207001]"                   ACL 507011
//   "errNo[0x0000000005000013]"                                               HCCL 19
//   "cqe error status[12]", "HDC recv msg err ret(25)"                        CQE 12, HDC 25
//   "error code is 9"                                                         error 9
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace l4::parameters {

struct NpuCode {
  std::string value;     ///< empty: none here
  std::size_t size = 0;  ///< bytes used, from the phrase on
};

/// The code of the phrase at the start of `text`, where a word begins.
NpuCode npu_code_after_phrase(std::string_view text);

/// The code at the front of `text`; `before` is the part of the line in front of `text`.
NpuCode npu_code_in_table(std::string_view text, std::string_view before);

}  // namespace l4::parameters
