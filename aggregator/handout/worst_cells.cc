#include "aggregator/handout/worst_cells.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "aggregator/serve/json_value.h"
#include "common/base/time.h"

namespace l4::handout {
namespace {

using serve::JsonValue;

constexpr std::uint8_t kUnknown = 255, kAsUsual = 0;
/// Empty if the text is no base64.
std::vector<std::uint8_t> from_base64(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.size() / 4 * 3);
  const auto* in = reinterpret_cast<const unsigned char*>(text.data());
  const int size = EVP_DecodeBlock(bytes.data(), in, static_cast<int>(text.size()));
  const auto padding = text.size() - std::min(text.find_last_not_of('=') + 1, text.size());
  if (size < 0 || padding > static_cast<std::size_t>(size)) return {};
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::string text_of(const JsonValue& object, std::string_view name) {
  const JsonValue* member = object.find(name);
  const std::string* text = member != nullptr ? member->text() : nullptr;
  return text != nullptr ? *text : std::string();
}

/// A time, or an iteration, as a query has it; `less`: the last place before it.
std::string place_of(const JsonValue& value, bool less) {
  if (const auto number = value.integer<std::int64_t>())
    return std::to_string(*number - (less ? 1 : 0));
  const std::string* text = value.text();
  const auto time = text != nullptr ? parse_time(*text) : std::nullopt;
  return time ? to_rfc3339(*time - Millis{less ? 1 : 0}) : std::string();
}

struct Candidate {
  std::uint8_t score = 0;
  std::size_t column = 0;
  std::string phase;
};

/// Of all rows of a node: the best of its ranks, by phase and column, highest first.
std::vector<Candidate> candidates_of(const JsonValue::List& rows, const std::string& node,
                                     std::size_t columns) {
  std::map<std::pair<std::string, std::size_t>, std::uint8_t> best;
  for (const JsonValue& row : rows) {
    if (text_of(row, "node") != node) continue;
    const std::string phase = text_of(row, "phase");
    const auto cells = from_base64(text_of(row, "cells"));
    for (std::size_t column = 0; column < std::min(cells.size(), columns); ++column)
      if (cells[column] != kUnknown && cells[column] != kAsUsual) {
        std::uint8_t& score = best[{phase, column}];
        score = std::max(score, cells[column]);
      }
  }
  std::vector<Candidate> found;
  found.reserve(best.size());
  for (const auto& [place, score] : best) found.push_back({score, place.second, place.first});
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return std::tie(b.score, a.column, a.phase) < std::tie(a.score, b.column, b.phase);
  });
  return found;
}

void change_texts(JsonValue& value, const std::function<void(std::string&)>& change) {
  if (const std::string* text = value.text()) {
    std::string changed = *text;
    change(changed);
    value = JsonValue(std::move(changed));
  } else if (JsonValue::List* list = value.list()) {
    for (JsonValue& one : *list) change_texts(one, change);
  } else if (JsonValue::Members* members = value.members()) {
    for (auto& [name, one] : *members) change_texts(one, change);
  }
}

/// Cuts a list of terms; those behind count as left out.
void cut_terms(JsonValue& terms, std::string_view name) {
  JsonValue* list = terms.find(name);
  JsonValue* count = terms.find("left_out");
  JsonValue* sum = terms.find("left_out_score");
  if (list == nullptr || list->list() == nullptr || count == nullptr || sum == nullptr) return;
  JsonValue::List& all = *list->list();
  if (all.size() <= kTermsShown) return;
  double nats = sum->number().value_or(0);
  for (std::size_t i = kTermsShown; i < all.size(); ++i)
    if (const JsonValue* one = all[i].find("nats")) nats += one->number().value_or(0);
  *count = JsonValue(count->integer<std::uint64_t>().value_or(0) + (all.size() - kTermsShown));
  *sum = JsonValue(nats);
  all.resize(kTermsShown);
}

}  // namespace

std::vector<MapCell> worst_cells(std::string_view scores, const std::vector<std::string>& nodes,
                                 std::size_t each) {
  const auto map = serve::parse_json(scores);
  if (!map) return {};
  const JsonValue* columns = map->find("columns");
  const JsonValue* rows = map->find("rows");
  const JsonValue* end = map->find("end");
  if (columns == nullptr || columns->list() == nullptr || columns->list()->empty() ||
      rows == nullptr || rows->list() == nullptr || end == nullptr)
    return {};
  const JsonValue::List& begins = *columns->list();
  const std::string from = place_of(begins.front(), false), to = place_of(*end, true);
  std::vector<MapCell> found;
  for (const std::string& node : nodes) {
    std::size_t taken = 0;
    for (const Candidate& cell : candidates_of(*rows->list(), node, begins.size())) {
      if (taken++ == each) break;
      found.push_back({text_of(*map, "what"), node, cell.phase,
                       place_of(begins[cell.column], false), from, to, begins.size()});
    }
  }
  return found;
}

std::string brief_terms(std::string_view terms, const std::function<void(std::string&)>& change) {
  auto value = serve::parse_json(terms);
  if (!value) return {};
  for (const std::string_view list : {"lines", "laps"}) cut_terms(*value, list);
  change_texts(*value, change);
  return serve::dump_json(*value);
}

std::string changed_json(std::string_view json, const std::function<void(std::string&)>& change) {
  auto value = serve::parse_json(json);
  if (!value) return {};
  change_texts(*value, change);
  return serve::dump_json(*value);
}

}  // namespace l4::handout
