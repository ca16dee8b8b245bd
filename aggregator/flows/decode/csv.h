// Flow records out of a CSV file with a header, one row each.
//
// Place in the flow: bytes of a file -> CsvReader -> FlowRecord -> the analyser. Columns stand in
// any order and unknown ones are skipped; needed are start_ns, end_ns, src, dst and bytes. A row
// that cannot be read is counted, the first are told with line, column and value, and reading goes
// on. One owner, one thread. Bounds: kLineMax bytes a line, kExportersMax exporters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/flows/decode/exporters.h"
#include "aggregator/flows/decode/input.h"
#include "aggregator/flows/record.h"
#include "common/base/error.h"

namespace l4::flows::decode {

class CsvReader {
 public:
  static constexpr std::size_t kLineMax = 1 << 16;

  /// `exporters` gives numbers to the names of exporters and must outlive the reader.
  CsvReader(std::string file, Exporters& exporters) : file_(std::move(file)), names_(&exporters) {}

  /// Takes the next bytes of the file. Error: the header lacks a column; nothing can be read then.
  Result<void> feed(std::string_view bytes, const Sink& sink);
  /// Takes the last line, if it has no line feed.
  Result<void> finish(const Sink& sink);
  const Counts& counts() const { return counts_; }

 private:
  enum Column : std::uint8_t {
    kStart,
    kEnd,
    kSrc,
    kDst,
    kSrcPort,
    kDstPort,
    kProto,
    kBytes,
    kPackets,
    kExporter,
    kSequence,
    kColumns,
    kSkipped
  };
  static const std::array<std::string_view, kColumns> kNames;

  Result<void> line(std::string_view text, const Sink& sink);
  Result<void> header(std::string_view text);
  void row(std::string_view text, const Sink& sink);
  bool read_field(Column column, std::string_view value, FlowRecord& record);
  void refuse(std::string_view column, std::string_view value, std::string_view reason);

  std::string file_;
  Exporters* names_;
  std::vector<Column> columns_;  ///< of each field of a row
  std::string rest_;             ///< the begun line
  std::uint64_t line_ = 0;
  bool too_long_ = false;
  Counts counts_;
};

}  // namespace l4::flows::decode
