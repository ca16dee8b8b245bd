#include "aggregator/serve/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ranges>

namespace l4::serve {
namespace {

using Library = nlohmann::json;
using Visit = std::function<bool(std::size_t, JsonValue)>;

/// Builds the document from the parser's events; an event that returns false ends the parsing.
class JsonBuilder final : public nlohmann::json_sax<Library> {
 public:
  JsonBuilder() = default;
  JsonBuilder(std::string_view list, const Visit& visit) : visited_(list), visit_(&visit) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool is) override { return add(is); }
  bool number_integer(number_integer_t number) override { return add(number); }
  bool number_unsigned(number_unsigned_t number) override { return add(number); }
  bool number_float(number_float_t number, const string_t&) override { return add(number); }
  bool string(string_t& text) override { return add(std::move(text)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Members()); }
  bool start_array(std::size_t) override { return open(JsonValue::List()); }
  bool key(string_t& name) override {
    open_.back()->members()->emplace_back(std::move(name), JsonValue());
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    error_ = {position, error.what()};
    return false;
  }

  std::expected<JsonValue, JsonSyntaxError> release() {
    if (error_) return std::unexpected(std::move(*error_));
    return std::move(root_);
  }

 private:
  JsonValue& next() {
    if (open_.empty()) return root_;
    if (JsonValue::Members* members = open_.back()->members()) return members->back().second;
    return open_.back()->list()->emplace_back();
  }
  bool add(JsonValue value) {
    next() = std::move(value);
    return visit();
  }
  bool open(JsonValue value) {
    if (open_.size() == kJsonDepthMax) {
      error_ = {0, fmt::format("is nested deeper than {} levels", kJsonDepthMax)};
      return false;
    }
    JsonValue& opened = next();
    opened = std::move(value);
    open_.push_back(&opened);  // stays where it is: nothing is added to its parent before it closes
    return true;
  }
  bool close() {
    open_.pop_back();
    return visit();
  }
  /// Passes on the value that was just completed if it is an element of the visited list.
  bool visit() {
    if (visit_ == nullptr || open_.size() != 2) return true;
    const JsonValue::Members* document = root_.members();
    JsonValue::List* list = open_.back()->list();
    if (document == nullptr || list == nullptr || document->back().first != visited_) return true;
    JsonValue element = std::move(list->back());
    list->pop_back();
    return (*visit_)(count_++, std::move(element));
  }

  JsonValue root_;
  std::vector<JsonValue*> open_;  ///< lists and objects from the root to the next value
  std::string visited_;
  const Visit* visit_ = nullptr;
  std::size_t count_ = 0;
  std::optional<JsonSyntaxError> error_;
};

class JsonDumper {
 public:
  explicit JsonDumper(int indent) : indent_(indent) {}

  void append(const JsonValue& value) {
    if (const auto* list = value.list()) {
      append_all(*list, '[', ']', [&](const JsonValue& element) { append(element); });
    } else if (const auto* members = value.members()) {
      append_all(*members, '{', '}', [&](const auto& member) {
        append_text(member.first);
        out_ += indent_ < 0 ? ":" : ": ";
        append(member.second);
      });
    } else if (const std::string* text = value.text()) {
      append_text(*text);
    } else if (const bool* is = value.flag()) {
      out_ += *is ? "true" : "false";
    } else if (const auto positive = value.integer<std::uint64_t>()) {
      out_ += std::to_string(*positive);
    } else if (const auto negative = value.integer<std::int64_t>()) {
      out_ += std::to_string(*negative);
    } else if (const auto number = value.number()) {
      out_ += Library(*number).dump();
    } else {
      out_ += "null";
    }
  }
  std::string out() && { return std::move(out_); }

 private:
  void append_text(const std::string& text) {
    out_ += Library(text).dump(-1, ' ', false, Library::error_handler_t::replace);
  }
  template <class Range, class Each>
  void append_all(const Range& range, char begin, char end, Each each) {
    out_ += begin;
    ++depth_;
    for (bool first = true; const auto& one : range) {
      if (!std::exchange(first, false)) out_ += ',';
      append_line_end();
      each(one);
    }
    --depth_;
    if (!range.empty()) append_line_end();
    out_ += end;
  }
  void append_line_end() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(depth_ * static_cast<std::size_t>(indent_), ' ');
  }

  int indent_;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::optional<double> JsonValue::number() const {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*number);
  return std::nullopt;
}

bool JsonValue::is_integer() const {
  return std::holds_alternative<std::int64_t>(value_) ||
         std::holds_alternative<std::uint64_t>(value_);
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const Members* all = members();
  if (all == nullptr) return nullptr;
  for (const auto& [key, value] : *all | std::views::reverse)
    if (key == name) return &value;
  return nullptr;
}

JsonValue* JsonValue::find(std::string_view name) {
  return const_cast<JsonValue*>(std::as_const(*this).find(name));
}

std::expected<JsonValue, JsonSyntaxError> parse_json(std::string_view text) {
  JsonBuilder builder;
  Library::sax_parse(text, &builder);
  return builder.release();
}

std::expected<JsonValue, JsonSyntaxError> parse_json(std::istream& in, std::string_view list,
                                                     const Visit& visit) {
  JsonBuilder builder(list, visit);
  Library::sax_parse(in, &builder);
  return builder.release();
}

std::string dump_json(const JsonValue& value, int indent) {
  JsonDumper dumper(indent);
  dumper.append(value);
  return std::move(dumper).out();
}

}  // namespace l4::serve
