// Flow records out of messages of IPFIX (RFC 7011) and NetFlow v9 (RFC 3954).
//
// Place in the flow: a file or a datagram, message by message -> ExportDecoder -> FlowRecord -> the
// analyser. Templates are kept by exporter, domain and number; options tell sampling and time-outs.
// Bytes come from anyone: what does not fit is counted and skipped, and the rest of the message is
// read if its lengths allow. One owner, one thread. Bounds: kTemplatesMax templates of kFieldsMax
// fields; further ones are refused and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "aggregator/flows/decode/exporters.h"
#include "aggregator/flows/decode/input.h"
#include "aggregator/flows/record.h"

namespace l4::flows::decode {

/// Big-endian bytes that are taken from the front.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : rest_(all) {}
  std::size_t size() const { return rest_.size(); }
  /// At most eight bytes as a number; none if there are fewer.
  std::optional<std::uint64_t> number(std::size_t bytes);
  /// None if there are fewer.
  std::optional<std::string_view> take(std::size_t bytes);

 private:
  std::string_view rest_;
};

class ExportDecoder {
 public:
  static constexpr std::size_t kTemplatesMax = 4096, kFieldsMax = 128;

  /// `exporters` gives numbers to exporters and must outlive the decoder.
  explicit ExportDecoder(Exporters& exporters) : names_(&exporters) {}

  /// Takes one message. `source` names the sender, `where` the place for complaints.
  void message(std::string_view bytes, const std::string& source, const std::string& where,
               const Sink& sink);
  const Counts& counts() const { return counts_; }
  /// What options said last; zeros and one where nothing was said.
  const ExporterSettings& announced() const { return announced_; }

 private:
  struct Field {
    std::uint16_t id = 0, length = 0;
    std::uint32_t enterprise = 0;
  };
  /// Where the values of a record are.
  struct Plain {
    std::size_t src = 0, dst = 0, src_port = 0, dst_port = 0, protocol = 0, bytes = 0, packets = 0;
    std::size_t start = 0, end = 0;
  };
  struct Template {
    std::vector<Field> fields;
    std::size_t bytes_min = 0;  ///< least bytes of a record
    bool is_options = false;
    std::optional<Plain> plain;  ///< of the usual form, which is read without a look at its fields
  };
  /// Of the message that is being read.
  struct Message {
    bool is_v9 = false;
    std::uint32_t exporter = kNone, domain = 0;
    std::uint64_t sequence = 0;  ///< of the next record
    TimeNs boot = 0;             ///< when the exporter's uptime began; zero: not known
    const std::string* source = nullptr;
    const std::string* where = nullptr;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;  // exporter, domain, number

  bool header(Bytes& bytes, Message& message, std::size_t size);
  void set(std::uint16_t id, Bytes body, Message& message, const Sink& sink);
  void templates(Bytes body, Message& message, bool is_options);
  bool template_fields(Bytes& body, std::size_t count, const Message& message, Template& made);
  void data(const Template& form, Bytes body, Message& message, const Sink& sink);
  static std::optional<Plain> plain_form(const Template& form);
  void plain_record(const Plain& plain, const char* at, Message& message, const Sink& sink);
  void hand_over(FlowRecord& record, bool has_all, Message& message, const Sink& sink);
  bool record(const Template& form, Bytes& body, Message& message, const Sink& sink);
  void keep(const Key& key, Template made, const Message& message);
  void complain(const Message& message, std::string reason);

  Exporters* names_;
  std::map<Key, Template> templates_;
  struct Counted {
    std::uint64_t packets = 0, records = 0;
    bool seen = false;
  };
  std::map<std::uint32_t, Counted> v9_;  ///< NetFlow v9 numbers its packets, not its records
  ExporterSettings announced_;
  Counts counts_;
};

}  // namespace l4::flows::decode
