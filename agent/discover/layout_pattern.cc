#include "agent/discover/layout_pattern.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace l4::discover {

Result<LayoutPattern> LayoutPattern::compile(std::string_view pattern) {
  constexpr std::array<std::pair<std::string_view, Field>, 6> kFields{
      {{"node", Field::node},
       {"rank", Field::rank},
       {"local_rank", Field::local_rank},
       {"attempt", Field::attempt},
       {"job", Field::job},
       {"*", Field::any}}};
  LayoutPattern layout;
  const auto fail = [&](std::string reason) {
    return std::unexpected(Error{"--layout " + std::string{pattern}, std::move(reason)});
  };
  for (std::string_view rest = pattern; !rest.empty();) {
    const std::size_t open = rest.find('{');
    if (open != 0) {
      layout.pieces_.push_back({Field::literal, std::string{rest.substr(0, open)}});
      rest.remove_prefix(std::min(open, rest.size()));
      continue;
    }
    const std::size_t close = rest.find('}');
    if (close == rest.npos) return fail("has a { without }");
    const std::string_view name = rest.substr(1, close - 1);
    const auto field = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (field == kFields.end())
      return fail("has {" + std::string{name} +
                  "}; known are {node} {rank} {local_rank} {attempt} {job} {*}");
    layout.pieces_.push_back({field->second, {}});
    rest.remove_prefix(close + 1);
  }
  if (layout.pieces_.empty()) return fail("is empty");
  return layout;
}

std::optional<PathFacts> LayoutPattern::match(std::string_view relative) const {
  PathFacts facts;
  if (!match_from(0, relative, facts)) return std::nullopt;
  if (facts.rank || facts.local_rank) facts.kind = wire::SourceKind::rank;
  return facts;
}

bool LayoutPattern::match_from(std::size_t index, std::string_view rest, PathFacts& facts) const {
  if (index == pieces_.size()) return rest.empty();
  const Piece& piece = pieces_[index];
  if (piece.field == Field::literal)
    return rest.starts_with(piece.text) &&
           match_from(index + 1, rest.substr(piece.text.size()), facts);
  const bool digits = piece.field == Field::rank || piece.field == Field::local_rank ||
                      piece.field == Field::attempt;
  std::size_t most = 0;
  while (most < rest.size() && rest[most] != '/' &&
         (!digits || (rest[most] >= '0' && rest[most] <= '9' && most < 9)))
    ++most;
  const std::size_t least = piece.field == Field::any ? 0 : 1;
  for (std::size_t size = most + 1; size-- > least;) {
    PathFacts attempt = facts;
    const std::string_view text = rest.substr(0, size);
    std::int32_t value = 0;
    if (digits) std::from_chars(text.data(), text.data() + text.size(), value);
    switch (piece.field) {
      case Field::node:
        attempt.node = text;
        break;
      case Field::job:
        attempt.job = text;
        break;
      case Field::rank:
        attempt.rank = Rank{value};
        break;
      case Field::local_rank:
        attempt.local_rank = value;
        break;
      case Field::attempt:
        attempt.attempt = value;
        break;
      case Field::literal:
      case Field::any:
        break;
    }
    if (!match_from(index + 1, rest.substr(size), attempt)) continue;
    facts = attempt;
    return true;
  }
  return false;
}

}  // namespace l4::discover
