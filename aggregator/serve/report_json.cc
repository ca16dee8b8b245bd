#include "aggregator/serve/report_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/report_fields.h"

namespace l4::serve {
namespace {

class Writer {
 public:
  template <class T>
  void operator()(std::string_view key, T& value) {
    begin_member(key);
    write(value);
  }

  void schema(std::string_view key) {
    begin_member(key);
    write_text(kReportSchema);
  }
  template <class T>
  void new_field(std::string_view key, T& value) {
    (*this)(key, value);
  }
  template <class T>
  void optional_field(std::string_view key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  template <class T>
  void optional_field(std::string_view key, const std::vector<T>& value) {
    if (!value.empty()) (*this)(key, value);
  }

  template <class T>
  void object(T& value) {
    out_ += '{';
    ++depth_;
    first_ = true;
    fields(*this, value);
    --depth_;
    new_line();
    out_ += '}';
    first_ = false;
  }

  std::string release() { return std::move(out_); }

 private:
  void write(const std::string& text) { write_text(text); }
  void write(double value) { out_ += json_number(value); }
  /// In full: the shortest digits that give the same number.
  void write(diagnose::Printed value) {
    if (std::isfinite(value.number)) {
      out_ += fmt::format("{}", value.number);
    } else {
      write_text(name_of_no_number(value.number));
    }
  }
  void write(bool value) { out_ += value ? "true" : "false"; }
  template <std::integral T>
  void write(T value) {
    out_ += std::to_string(value);
  }
  template <class Tag, class T>
  void write(Named<Tag, T> id) {
    write(id.value());
  }
  void write(TemplateId id) { write_text(to_string(id)); }
  void write(TimeMs time) {
    if (is_sayable(time)) return write_text(to_rfc3339(time));
    out_ += "null";
  }
  template <class T>
    requires std::is_enum_v<T>
  void write(T word) {
    if (is_null(word)) {
      out_ += "null";
    } else {
      write_text(name(word));
    }
  }
  template <class T>
  void write(const std::optional<T>& value) {
    if (value) return write(*value);
    out_ += "null";
  }
  template <class T>
  void write(const std::vector<T>& list) {
    out_ += '[';
    constexpr bool kStructures = requires(T& element) { fields(*this, element); };
    ++depth_;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += kStructures ? "," : ", ";
      if (kStructures) new_line();
      write(list[i]);
    }
    --depth_;
    if (kStructures && !list.empty()) new_line();
    out_ += ']';
  }
  template <class T>
    requires std::is_class_v<T>
  void write(T& structure) {
    object(structure);
  }

  void write_text(std::string_view text) { append_json_text(out_, text); }

  void begin_member(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    new_line();
    write_text(key);
    out_ += ": ";
  }

  void new_line() {
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  std::string out_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

constexpr std::array<std::string_view, 10> kParameterKinds{
    "rank",  "host",   "address",   "device", "code",
    "errno", "signal", "exit_code", "path",   "duration_ms"};

}  // namespace

std::string_view name(wire::ParameterKind kind) {
  return kParameterKinds[static_cast<std::size_t>(kind)];
}

std::string to_json(const diagnose::Report& report) {
  Writer writer;
  writer.object(report);
  return writer.release() + '\n';
}

}  // namespace l4::serve
