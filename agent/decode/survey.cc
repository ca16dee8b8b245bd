#include "agent/decode/survey.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/decode/envelope.h"
#include "agent/decode/scan.h"

namespace l4::decode {
namespace {

constexpr std::size_t kNamesMax = 4096;

/// `epoch3`, `layer12`, `gpu0`: counted things, not machines.
bool counted_thing(std::string_view name) {
  constexpr std::array<std::string_view, 26> kThings{
      "epoch", "step",  "iter",   "iteration", "layer", "gpu",    "cuda",  "rank",  "block",
      "stage", "batch", "device", "shard",     "phase", "expert", "eval",  "train", "val",
      "test",  "trial", "run",    "level",     "line",  "bucket", "model", "group"};
  std::size_t n = 0;
  while (n < name.size() && is_alpha(name[n])) ++n;
  if (name.find_first_not_of("0123456789", n) != std::string_view::npos) return false;
  return std::any_of(kThings.begin(), kThings.end(), [&](std::string_view thing) {
    return n == thing.size() && ::strncasecmp(name.data(), thing.data(), n) == 0;
  });
}

/// A name that is a host by its looks: an address, or with a digit or a dash in it.
bool certain_host(std::string_view name) {
  if (name == "localhost") return true;
  if (counted_thing(name)) return false;
  int dots = 0;
  bool digits_only = true;
  bool mark = false;
  for (const char c : name) {
    dots += c == '.';
    digits_only = digits_only && (is_digit(c) || c == '.');
    mark = mark || is_digit(c) || c == '-';
  }
  return digits_only ? dots == 3 : mark;
}

}  // namespace

void Survey::count(std::string_view line) {
  if (line.empty() || all_blank(line)) return;
  ++block_.lines;
  if (block_.labels > 0) ++block_.lines_since_label;
  if (block_.hosts > 0) ++block_.lines_since_host;
  std::size_t length = 0;
  if (const auto label = label_of(line, length)) {
    if (++block_.labels == 1) block_.lines_since_label = 1;
    const auto slot = static_cast<std::size_t>(*label) % block_.seen_labels.size();
    block_.repeated_labels += line[0] == ' ' || block_.seen_labels.test(slot);
    block_.seen_labels.set(slot);
    Cursor c{line, length};
    c.skip_blanks();
    if (!c.take('[')) return;
    const std::size_t word = c.at;
    while (is_alpha(c.peek())) ++c.at;
    const std::string_view name = line.substr(word, c.at - word);
    std::int64_t rank = 0;
    if (name.empty() || !c.take_number(1, 6, rank) || !c.take("]:")) return;
    if (name == "rank")
      block_.rank_mismatches += rank != *label;
    else
      ++block_.local_tags;
    return;
  }
  const std::string_view name = host_prefix_of(line);
  if (name.empty() || !certain_host(name)) return;
  if (++block_.hosts == 1) block_.lines_since_host = 1;
  const auto known = names_.find(name);
  if (known != names_.end())
    ++known->second;
  else if (names_.size() < kNamesMax)
    names_.emplace(name, 1);
}

void Survey::look_at(std::string_view block) {
  block_ = {};
  std::string scratch;
  while (!block.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(block.data(), '\n', block.size()));
    const std::size_t size =
        end == nullptr ? block.size() : static_cast<std::size_t>(end - block.data());
    std::string_view line = block.substr(0, size);
    if (const auto envelope = open_envelope(line, scratch)) line = envelope->content;
    count(line);
    block.remove_prefix(std::min(size + 1, block.size()));
  }
  judge_labels();
  judge_hosts();
}

void Survey::judge_labels() {
  if (!labels_)
    labels_ = block_.labels >= 4 && block_.repeated_labels > 0 &&
              block_.labels * 10 >= block_.lines_since_label * 6;
  else if (block_.lines >= 50 && block_.labels * 20 < block_.lines)
    labels_ = false;
  if (block_.local_tags > 0 || block_.rank_mismatches > block_.labels / 20)
    labels_are_nodes_ = true;
}

void Survey::judge_hosts() {
  if (!hosts_)
    hosts_ = block_.hosts >= 3 && block_.hosts * 10 >= block_.lines_since_host * 6;
  else if (block_.lines >= 50 && block_.hosts * 20 < block_.lines)
    hosts_ = false;
}

PrefixTrust Survey::trust() const {
  PrefixTrust trust;
  trust.labels = labels_;
  trust.labels_are_nodes = labels_are_nodes_;
  if (!hosts_) return trust;
  trust.context = this;
  trust.host_known = [](const void* context, std::string_view name) {
    const auto& names = static_cast<const Survey*>(context)->names_;
    const auto known = names.find(name);
    if (known == names.end()) return false;
    return known->second >= 2;
  };
  return trust;
}

}  // namespace l4::decode
