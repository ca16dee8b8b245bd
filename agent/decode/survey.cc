#include "agent/decode/survey.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/decode/clean.h"
#include "agent/decode/envelope.h"
#include "agent/stamps/civil.h"
#include "agent/text/scan.h"

namespace l4::decode {
namespace {

constexpr std::size_t kNamesMax = 4096;
constexpr std::uint64_t kStampedBlocks = 16;  // labels behind stamps begin in the first blocks
constexpr std::uint64_t kWholeBlocks = 16;    // the first blocks are searched whole
constexpr std::size_t kGlanceBytes = 4096;    // some dozen lines, searched first in other blocks

/// True for `epoch3`, `layer12`, `gpu0`: counted things, not machines.
bool counted_thing(std::string_view name) {
  static constexpr std::array<std::string_view, 26> kThings{
      "epoch", "step",  "iter",   "iteration", "layer", "gpu",    "cuda",  "rank",  "block",
      "stage", "batch", "device", "shard",     "phase", "expert", "eval",  "train", "val",
      "test",  "trial", "run",    "level",     "line",  "bucket", "model", "group"};
  std::size_t n = 0;
  while (n < name.size() && text::is_alpha(name[n])) ++n;
  if (name.find_first_not_of("0123456789", n) != std::string_view::npos) return false;
  return std::any_of(kThings.begin(), kThings.end(), [&](std::string_view thing) {
    return n == thing.size() && ::strncasecmp(name.data(), thing.data(), n) == 0;
  });
}

/// True for a name that can only be a host: an address, or a name with a digit or a dash.
bool certain_host(std::string_view name) {
  if (name == "localhost") return true;
  if (counted_thing(name)) return false;
  int dots = 0;
  bool digits_only = true;
  bool mark = false;
  for (const char c : name) {
    dots += c == '.';
    digits_only = digits_only && (text::is_digit(c) || c == '.');
    mark = mark || text::is_digit(c) || c == '-';
  }
  return digits_only ? dots == 3 : mark;
}

/// Removes a stamp that a tool has put before each line; labels may follow it.
bool skip_iso_stamp(std::string_view& line) {
  stamps::Civil ignored;
  text::Cursor c{line};
  if (line.size() < 22 || line[4] != '-' || !stamps::parse_iso(c, ignored)) return false;
  c.accept(' ');
  line.remove_prefix(c.at);
  return true;
}

bool shows_prefix(std::string_view line) {
  std::size_t length = 0;
  if (label_of(line, length) || bracket_label_of(line, length)) return true;
  const FrontName front = front_name_of(line);
  return !front.name.empty() && certain_host(front.name);
}

/// The last bytes of a block; their first line may be cut.
std::string_view last_lines(std::string_view block) {
  return block.substr(block.size() - std::min(block.size(), kGlanceBytes));
}

}  // namespace

/// True if no prefix has recurred so far.
bool Survey::expects_none() const {
  return blocks_ > kWholeBlocks && !labels_ && !bracket_labels_ &&
         std::none_of(fronts_.begin(), fronts_.end(), [](bool front) { return front; });
}

void Survey::count(std::string_view line) {
  if (line.empty() || text::all_blank(line)) return;
  ++block_.lines;
  std::size_t length = 0;
  if (line[0] == '[') {
    if (const auto label = bracket_label_of(line, length)) {
      block_.descents += block_.bracket_labels++ > 0 && *label < block_.last_bracket_label;
      block_.last_bracket_label = *label;
    }
    return;
  }
  if (text::is_alpha(line[0])) return count_front(line);
  if (!text::is_digit(line[0]) && line[0] != ' ') return;
  const bool stamped = (labels_ || blocks_ <= kStampedBlocks) && skip_iso_stamp(line);
  const auto label = count_label(line);
  if (stamped) return;  // names behind a stamp are those of loggers
  if (!line.empty() && text::is_alnum(line[0])) count_front(line);
  if (label) compare_tag(line, *label);
}

std::optional<std::int32_t> Survey::count_label(std::string_view& line) {
  std::size_t length = 0;
  const auto label = label_of(line, length);
  if (!label) return label;
  if (++block_.labels == 1) block_.lines_before_label = block_.lines - 1;
  const auto slot = static_cast<std::size_t>(*label) % block_.seen_labels.size();
  const std::int32_t step = *label - block_.last_label;
  block_.uneven_labels += block_.labels > 2 && step != block_.label_step;
  block_.padded_labels += line[0] == ' ';
  block_.repeated_labels += block_.seen_labels.test(slot);
  block_.label_step = step;
  block_.seen_labels.set(slot);
  block_.last_label = *label;
  line = text::trim_left(line.substr(length));
  return label;
}

void Survey::count_front(std::string_view& line) {
  const FrontName front = front_name_of(line);
  if (front.name.empty() || !certain_host(front.name)) return;
  const auto kind = static_cast<std::size_t>(front.front);
  if (++block_.fronts[kind] == 1) block_.lines_before_front[kind] = block_.lines - 1;
  const auto known = names_.find(front.name);
  if (known != names_.end())
    ++known->second;
  else if (names_.size() < kNamesMax)
    names_.emplace(front.name, 1);
  line = text::trim_left(line.substr(front.length));
}

/// Compares a label with the tag behind it: before `[default1]:` it is a node, before `[rank9]:` it
/// should be the rank.
void Survey::compare_tag(std::string_view line, std::int32_t label) {
  text::Cursor c{line};
  if (!c.accept('[')) return;
  while (text::is_alpha(c.peek())) ++c.at;
  const std::string_view name = line.substr(1, c.at - 1);
  std::int64_t rank = 0;
  if (name.empty() || !c.parse_number(1, 6, rank) || !c.accept("]:")) return;
  if (name == "rank")
    block_.rank_mismatches += rank != label;
  else
    ++block_.local_tags;
}

template <class Visit>
void Survey::each_line(std::string_view block, Visit visit) {
  while (!block.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(block.data(), '\n', block.size()));
    const std::size_t size =
        end == nullptr ? block.size() : static_cast<std::size_t>(end - block.data());
    std::string_view line = block.substr(0, size);
    if (may_be_wrapped(line))
      if (const auto envelope = open_envelope(line, scratch_)) line = envelope->content;
    if (!line.empty() && line[0] == '\x1b') {
      Dirt ignored;
      line = clean(line, clean_scratch_, ignored);
    }
    visit(line);
    block.remove_prefix(std::min(size + 1, block.size()));
  }
}

void Survey::observe(std::string_view block) {
  ++blocks_;
  if (expects_none()) {  // if prefixes began within this block, its last lines have prefixes
    bool any = false;
    each_line(last_lines(block), [&](std::string_view line) { any = any || shows_prefix(line); });
    if (!any) return;
  }
  block_ = {};
  each_line(block, [this](std::string_view line) { count(line); });
  judge_labels();
  judge_fronts();
}

void Survey::judge_labels() {
  if (!labels_)
    labels_ =
        block_.labels >= 4 &&
        (block_.repeated_labels > 0 || (block_.padded_labels > 0 && block_.uneven_labels > 0)) &&
        block_.labels * 10 >= (block_.lines - block_.lines_before_label) * 6;
  else if (block_.lines >= 50 && block_.labels * 20 < block_.lines)
    labels_ = false;
  if (!bracket_labels_)
    bracket_labels_ = block_.bracket_labels >= 4 &&
                      block_.bracket_labels * 10 >= block_.lines * 6 && block_.descents >= 2 &&
                      block_.descents * 10 >= block_.bracket_labels;
  else if (block_.lines >= 50 && block_.bracket_labels * 20 < block_.lines)
    bracket_labels_ = false;
  if (block_.local_tags > 0 || block_.rank_mismatches > block_.labels / 20)
    labels_are_nodes_ = true;
}

void Survey::judge_fronts() {
  for (std::size_t i = 0; i < kFronts; ++i) {
    if (!fronts_[i])
      fronts_[i] = block_.fronts[i] >= 3 &&
                   block_.fronts[i] * 10 >= (block_.lines - block_.lines_before_front[i]) * 6;
    else if (block_.lines >= 50 && block_.fronts[i] * 20 < block_.lines)
      fronts_[i] = false;
  }
}

PrefixTrust Survey::trust() const {
  PrefixTrust trust;
  trust.labels = labels_;
  trust.labels_are_nodes = labels_are_nodes_;
  trust.bracket_labels = bracket_labels_;
  trust.fronts = fronts_;
  if (std::none_of(fronts_.begin(), fronts_.end(), [](bool front) { return front; })) return trust;
  trust.context = this;
  trust.host_known = [](const void* context, std::string_view name) {
    const auto& names = static_cast<const Survey*>(context)->names_;
    const auto known = names.find(name);
    return known != names.end() && known->second >= 2;
  };
  return trust;
}

}  // namespace l4::decode
