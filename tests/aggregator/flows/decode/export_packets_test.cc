#include "aggregator/flows/decode/export_packets.h"

#include <doctest/doctest.h>

namespace l4::flows::decode {
namespace {

/// Bytes in network order.
class Made {
 public:
  Made& number(std::uint64_t value, int bytes) {
    for (int i = bytes; i-- > 0;) text_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  Made& fields(std::initializer_list<std::pair<int, int>> all) {
    for (const auto& [id, length] : all)
      number(static_cast<std::uint64_t>(id), 2).number(static_cast<std::uint64_t>(length), 2);
    return *this;
  }
  Made& text(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return text_; }

 private:
  std::string text_;
};

std::string set(int id, const Made& body) {
  return Made()
      .number(static_cast<std::uint64_t>(id), 2)
      .number(4 + body.bytes().size(), 2)
      .text(body.bytes())
      .bytes();
}

std::string ipfix(std::uint32_t sequence, const std::string& sets, std::uint32_t domain = 5) {
  return Made()
      .number(10, 2)
      .number(16 + sets.size(), 2)
      .number(1'760'000'000, 4)
      .number(sequence, 4)
      .number(domain, 4)
      .text(sets)
      .bytes();
}

std::string template_set(int id = 256) {
  return set(
      2,
      Made()
          .number(static_cast<std::uint64_t>(id), 2)
          .number(9, 2)
          .fields({{8, 4}, {12, 4}, {7, 2}, {11, 2}, {4, 1}, {1, 8}, {2, 8}, {152, 8}, {153, 8}}));
}

Made row(std::uint64_t bytes) {
  Made made;
  made.number(0x0a000001, 4)
      .number(0x0a000002, 4)
      .number(50'000, 2)
      .number(4'791, 2)
      .number(17, 1)
      .number(bytes, 8)
      .number(3, 8)
      .number(1'760'000'000'100, 8)
      .number(1'760'000'000'250, 8);
  return made;
}

struct Decoded {
  std::vector<FlowRecord> records;
  Exporters exporters;
  ExportDecoder decoder{exporters};

  void feed(const std::string& message, const std::string& source = "leaf-1") {
    decoder.message(message, source, "datagram",
                    [&](const FlowRecord& record) { records.push_back(record); });
  }
};

}  // namespace

TEST_CASE("records of IPFIX are read by their template, and numbered") {
  Decoded decoded;
  decoded.feed(ipfix(
      41, template_set() + set(256, Made().text(row(7'000).bytes()).text(row(8'000).bytes()))));
  REQUIRE(decoded.records.size() == 2);
  const FlowRecord& record = decoded.records[1];
  CHECK(to_text(record.src) == "10.0.0.1");
  CHECK(to_text(record.dst) == "10.0.0.2");
  CHECK(record.bytes == 8'000);
  CHECK(record.dst_port == 4'791);
  CHECK(record.start == 1'760'000'000'100 * kMillisecond);
  CHECK(record.end == 1'760'000'000'250 * kMillisecond);
  CHECK(record.sequence == 42);
  CHECK(decoded.exporters.names() == std::vector<std::string>{"leaf-1/5"});
}

TEST_CASE("records of another template say the same: in another order, with more fields") {
  Decoded usual, other;
  usual.feed(ipfix(7, template_set() + set(256, row(7'000))));
  const std::string form = set(
      2,
      Made().number(300, 2).number(10, 2).fields(
          {{153, 8}, {152, 8}, {2, 8}, {1, 8}, {4, 1}, {5, 1}, {11, 2}, {7, 2}, {12, 4}, {8, 4}}));
  const std::string data = set(300, Made()
                                        .number(1'760'000'000'250, 8)
                                        .number(1'760'000'000'100, 8)
                                        .number(3, 8)
                                        .number(7'000, 8)
                                        .number(17, 1)
                                        .number(0, 1)
                                        .number(4'791, 2)
                                        .number(50'000, 2)
                                        .number(0x0a000002, 4)
                                        .number(0x0a000001, 4));
  other.feed(ipfix(7, form + data));
  REQUIRE(usual.records.size() == 1);
  REQUIRE(other.records.size() == 1);
  const FlowRecord &one = usual.records[0], &two = other.records[0];
  CHECK(one.src == two.src);
  CHECK(one.dst == two.dst);
  CHECK(one.src_port == two.src_port);
  CHECK(one.dst_port == two.dst_port);
  CHECK(one.protocol == two.protocol);
  CHECK(one.bytes == two.bytes);
  CHECK(one.packets == two.packets);
  CHECK(one.start == two.start);
  CHECK(one.end == two.end);
  CHECK(one.sequence == two.sequence);
}

TEST_CASE("a template holds for its sender and domain, until it is replaced or withdrawn") {
  Decoded decoded;
  decoded.feed(ipfix(0, template_set()));
  decoded.feed(ipfix(0, set(256, row(1))));
  CHECK(decoded.records.size() == 1);
  decoded.feed(ipfix(0, set(256, row(1)), 6));
  decoded.feed(ipfix(0, set(256, row(1))), "leaf-2");
  CHECK(decoded.records.size() == 1);
  CHECK(decoded.decoder.counts().unknown == 2);
  decoded.feed(ipfix(0, set(2, Made().number(256, 2).number(0, 2))));
  decoded.feed(ipfix(0, set(256, row(1))));
  CHECK(decoded.records.size() == 1);
}

TEST_CASE("NetFlow v9 counts from the uptime of its sender, and packets") {
  Decoded decoded;
  const auto packet = [](std::uint32_t sequence, const std::string& sets) {
    return Made()
        .number(9, 2)
        .number(1, 2)
        .number(5'000, 4)
        .number(1'760'000'000, 4)
        .number(sequence, 4)
        .number(0, 4)
        .text(sets)
        .bytes();
  };
  const std::string form = set(
      0, Made().number(300, 2).number(5, 2).fields({{8, 4}, {12, 4}, {1, 4}, {22, 4}, {21, 4}}));
  const std::string data =
      set(300, Made().number(1, 4).number(2, 4).number(9'000, 4).number(4'000, 4).number(4'500, 4));
  decoded.feed(packet(1, form + data));
  decoded.feed(packet(4, data));  // two packets were lost
  REQUIRE(decoded.records.size() == 2);
  CHECK(decoded.records[0].start == 1'759'999'999 * kSecond);
  CHECK(decoded.records[0].end == 1'759'999'999 * kSecond + 500 * kMillisecond);
  CHECK(decoded.records[1].sequence == decoded.records[0].sequence + 3);
}

TEST_CASE("options tell sampling, and counts are scaled back") {
  Decoded decoded;
  const std::string form =
      set(3, Made().number(257, 2).number(3, 2).number(1, 2).fields({{149, 4}, {305, 4}, {36, 2}}));
  decoded.feed(ipfix(0, form + set(257, Made().number(1, 4).number(1024, 4).number(60, 2))));
  CHECK(decoded.decoder.announced().sampling == 1024);
  CHECK(decoded.decoder.announced().active == 60 * kSecond);
  decoded.feed(ipfix(1, template_set() + set(256, row(1'000))));
  REQUIRE(decoded.records.size() == 1);
  CHECK(decoded.records[0].bytes == 1'024'000);
}

TEST_CASE("fields of any length, of enterprises and IPv6 are read or passed over") {
  Decoded decoded;
  const std::string form = set(2, Made()
                                      .number(256, 2)
                                      .number(6, 2)
                                      .fields({{27, 16}, {28, 16}, {0x8000 | 77, 0xffff}})
                                      .number(9, 4)
                                      .fields({{1, 3}, {150, 4}, {151, 4}}));
  const std::string data = set(256, Made()
                                        .number(0xfe80, 2)
                                        .number(0, 6)
                                        .number(1, 8)
                                        .number(0xfe80, 2)
                                        .number(0, 6)
                                        .number(2, 8)
                                        .number(5, 1)
                                        .text("hello")
                                        .number(70'000, 3)
                                        .number(1'760'000'000, 4)
                                        .number(1'760'000'002, 4));
  decoded.feed(ipfix(0, form + data));
  REQUIRE(decoded.records.size() == 1);
  CHECK(to_text(decoded.records[0].src) == "fe80::1");
  CHECK(decoded.records[0].bytes == 70'000);
}

TEST_CASE("what does not fit is counted, and the rest is read") {
  Decoded decoded;
  decoded.feed("");
  decoded.feed("\x01\x02");
  decoded.feed(ipfix(0, template_set()) + "x");
  std::string cut = ipfix(0, template_set() + set(256, row(1)));
  cut.resize(cut.size() - 5);
  decoded.feed(cut);
  CHECK(decoded.records.empty());
  CHECK(decoded.decoder.counts().bad == 4);
  decoded.feed(ipfix(0, set(7, Made()) + template_set() + set(256, row(1))));
  CHECK(decoded.records.size() == 1);
  CHECK(decoded.decoder.counts().bad == 5);
}

TEST_CASE("templates of strangers are bounded") {
  Decoded decoded;
  for (std::uint32_t domain = 0; domain < 2 * ExportDecoder::kTemplatesMax; ++domain)
    decoded.feed(ipfix(0, template_set(), domain));
  CHECK(decoded.decoder.counts().bad == ExportDecoder::kTemplatesMax);
  decoded.feed(ipfix(0, set(256, row(1)), 7));
  CHECK(decoded.records.size() == 1);
}

}  // namespace l4::flows::decode
