#include "aggregator/faults/fault_toml.h"

#include <fmt/format.h>

#include <algorithm>

namespace l4::faults {
namespace {

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
}

/// 'literal' if TOML allows it, so that patterns stay readable, otherwise "with \\ escapes".
std::string quoted(const std::string& text) {
  if (std::ranges::all_of(text, is_plain) && text.find('\'') == text.npos) return "'" + text + "'";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append("\\").append(1, c);
    } else if (is_plain(c)) {
      out += c;
    } else {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out + '"';
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + quoted(text);
  return "[" + list + "]";
}

class Entry {
 public:
  void text(std::string_view key, const std::string& value) { row(key, quoted(value)); }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    if (values.empty()) return;
    if (values.size() == 1) return row(key, list_of(values));
    out_ += fmt::format("{} = [\n", key);
    for (const std::string& value : values) out_ += fmt::format("  {},\n", quoted(value));
    out_ += "]\n";
  }
  void flag(std::string_view key, bool is) {
    if (is) row(key, "true");
  }
  void row(std::string_view key, std::string_view value) {
    out_ += fmt::format("{} = {}\n", key, value);
  }
  std::string release() { return std::move(out_); }

 private:
  std::string out_ = "[[fault]]\n";
};

std::string conditions_of(const Fault& fault) {
  std::string all;
  for (const Condition& condition : fault.conditions)
    all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", name(condition.kind),
                       list_of(condition.values));
  return "{ " + all + " }";
}

}  // namespace

std::string to_toml(const Fault& fault) {
  Entry entry;
  entry.text("id", fault.id);
  entry.text("title", fault.title);
  entry.text("category", std::string(name(fault.category)));
  entry.text("subcategory", fault.subcategory);
  entry.text("scope", std::string(l4::name(fault.scope)));
  entry.text("severity", std::string(l4::name(fault.severity)));
  entry.texts("patterns", fault.patterns);
  entry.texts("unless", fault.unless);
  if (!fault.conditions.empty()) entry.row("parameters", conditions_of(fault));
  entry.flag("consequence", fault.consequence);
  entry.flag("general", fault.general);
  entry.flag("timeout", fault.timeout);
  entry.flag("setup", fault.setup);
  entry.flag("accuses_peer", fault.accuses_peer);
  if (!fault.stopped_by.empty()) entry.text("stopped_by", fault.stopped_by);
  entry.text("cause", fault.cause);
  entry.text("fix", fault.fix);
  entry.text("action", fault.action);
  entry.texts("matches", fault.matches);
  entry.texts("rejects", fault.rejects);
  if (const auto& by = fault.confirmed)
    entry.row("confirmed", fmt::format("{{ by = {}, at = {}, incident = {} }}", quoted(by->by),
                                       quoted(to_rfc3339(by->at)), quoted(by->incident)));
  return entry.release();
}

}  // namespace l4::faults
