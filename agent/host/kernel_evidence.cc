#include "agent/host/kernel_evidence.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "agent/host/kernel_rules.h"

namespace l4::host {
namespace {

constexpr std::size_t kTextBytesMax = 128;

std::string bounded(std::string_view text) {
  return std::string{text.substr(0, kTextBytesMax)};
}

std::optional<std::int32_t> number_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  const bool word_goes_on = end != text.data() + text.size() &&
                            ((*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z'));
  return word_goes_on ? std::nullopt : std::optional<std::int32_t>(value);
}

/// The text between `front` and `back`, or up to the end where an optional `back` is missing.
std::string_view between(std::string_view text, std::string_view front, std::string_view back) {
  const std::size_t at = text.find(front);
  if (at == text.npos) return {};
  const std::size_t from = at + front.size();
  const std::size_t end = text.find(back, from);
  return end == text.npos ? std::string_view{} : text.substr(from, end - from);
}

void take_pid(KernelEvidence& out, std::string_view text, std::size_t at) {
  const auto pid = number_at(text, at);
  if (pid && *pid > 0) out.pid = Pid{*pid};
}

/// `process 4711 (python3)`, `Kill process 4711 (python)`.
void process_brackets(KernelEvidence& out, std::string_view text) {
  const std::size_t at = text.find("process ");
  if (at == text.npos) return;
  take_pid(out, text, at + 8);
  const std::size_t open = text.find(" (", at);
  if (open == text.npos) return;
  // The name may hold brackets of its own; it ends with `)` before a blank, a comma or the end.
  std::size_t shut = text.find(')', open);
  for (const std::string_view end :
       {std::string_view{") total-vm"}, std::string_view{"), "}, std::string_view{") score"}})
    if (const std::size_t found = text.find(end, open); found != text.npos) shut = found;
  if (shut != text.npos) out.command = bounded(text.substr(open + 2, shut - open - 2));
}

/// `pid=2211, name=python3`, with or without quotes.
void pid_and_name(KernelEvidence& out, std::string_view text) {
  std::size_t at = text.find("pid=");
  if (at != text.npos) {
    at += 4;
    if (at < text.size() && text[at] == '\'') ++at;
    take_pid(out, text, at);
  }
  const std::string_view name = between(text, "name=", ",");
  if (!name.empty() && name[0] != '<' && name[0] != '\'') out.command = bounded(name);
}

/// `python3:2211` behind `front`; the name may hold colons and blanks.
void name_colon_pid(KernelEvidence& out, std::string_view text, std::string_view front,
                    std::string_view back) {
  const std::string_view both = between(text, front, back);
  const std::size_t colon = both.rfind(':');
  if (colon == both.npos) return;
  take_pid(out, both, colon + 1);
  out.command = bounded(both.substr(0, colon));
}

/// `traps: python3[2211] general protection`, `python3[2211]: segfault at`.
void name_square_pid(KernelEvidence& out, std::string_view text) {
  if (text.starts_with("traps: ")) text.remove_prefix(7);
  std::size_t open = text.find('[');
  while (open != text.npos && !number_at(text, open + 1)) open = text.find('[', open + 1);
  if (open == text.npos) return;
  take_pid(out, text, open + 1);
  out.command = bounded(text.substr(0, open));
}

bool is_pci(std::string_view word) {
  // 0000:3b:00 with or without .0
  return word.size() >= 10 && word[4] == ':' && word[7] == ':' &&
         word.find_first_not_of("0123456789abcdefABCDEF:.") == word.npos;
}

bool is_interface(std::string_view word) {
  constexpr auto kFronts =
      std::to_array<std::string_view>({"eth", "ib", "en", "eno", "ens", "bond", "mlx5_", "hsn",
                                       "p0", "roce", "rdma", "wl", "veth"});
  const bool numbered = !word.empty() && word.back() >= '0' && word.back() <= '9';
  return numbered && word.size() <= 15 &&
         std::ranges::any_of(kFronts, [&](auto front) { return word.starts_with(front); });
}

/// The word that has the form of a device name.
std::string device_of(std::string_view text, KernelKind kind) {
  std::string_view pci;
  std::size_t at = 0;
  const auto ends = [](char c) {
    return std::string_view{" (),;[]"}.find(c) != std::string_view::npos;
  };
  while (at < text.size()) {
    while (at < text.size() && ends(text[at])) ++at;
    const std::size_t from = at;
    while (at < text.size() && !ends(text[at])) ++at;
    std::string_view word = text.substr(from, at - from);
    while (!word.empty() && (word.back() == ':' || word.back() == '.')) word.remove_suffix(1);
    if (word.starts_with("PCI:")) word.remove_prefix(4);
    const bool link = kind == KernelKind::link_down || kind == KernelKind::link_up;
    if (link && is_interface(word)) return bounded(word);
    if (pci.empty() && is_pci(word)) pci = word;
    const bool numbered = word.find_first_of("0123456789") != word.npos;
    if (kind == KernelKind::disk && numbered &&
        (word.starts_with("nvme") || word.starts_with("sd") || word.starts_with("dm-")))
      return bounded(word);
  }
  return bounded(pci);
}

void oom_kill(KernelEvidence& out, std::string_view text) {
  if (!text.starts_with("oom-kill:")) {
    process_brackets(out, text);
    return;
  }
  // oom-kill:constraint=..,task_memcg=/job_1/step_0,task=python3,pid=4711,uid=0
  const std::size_t pid = text.rfind(",pid=");
  if (pid == text.npos) return;
  take_pid(out, text, pid + 5);
  const std::size_t task = text.rfind(",task=", pid);
  if (task == text.npos) return;
  out.command = bounded(text.substr(task + 6, pid - task - 6));
  const std::string_view group = text.substr(0, task);
  if (const std::size_t at = group.find("task_memcg="); at != group.npos)
    out.cgroup = bounded(group.substr(at + 11));
}

void details(KernelEvidence& out, std::string_view text) {
  switch (out.kind) {
    case KernelKind::xid:
    case KernelKind::sxid: {
      out.device = device_of(text, out.kind);
      const std::size_t at = text.find("): ");
      out.code = at == text.npos ? std::nullopt : number_at(text, at + 3);
      pid_and_name(out, text);
      return;
    }
    case KernelKind::gpu:
      out.device = device_of(text, out.kind);
      if (const std::size_t at = text.find(" pid "); at != text.npos) {
        take_pid(out, text, at + 5);
        out.command = bounded(between(text, "process ", " pid "));
        if (const auto again = out.command.rfind("process "); again != std::string::npos)
          out.command.erase(0, again + 8);
      }
      return;
    case KernelKind::oom_kill:
      return oom_kill(out, text);
    case KernelKind::oom:
      out.command = bounded(text.substr(0, text.find(" invoked oom-killer")));
      return;
    case KernelKind::machine_check:
      out.corrected = text.find("orrected error") != text.npos ||
                      text.find("severity: corrected") != text.npos ||
                      text.find(" CE ") != text.npos || text.find("Corrected") != text.npos;
      if (text.find("ncorrected") != text.npos) out.corrected = false;
      name_colon_pid(out, text, "Killing ", " due to");
      return;
    case KernelKind::hung_task:
      return name_colon_pid(out, text, "INFO: task ", " blocked");
    case KernelKind::lockup:
      return name_colon_pid(out, text, "s! [", "]");
    case KernelKind::fault:
      return name_square_pid(out, text);
    case KernelKind::network_storage:
    case KernelKind::storage_back:
      if (text.starts_with("LustreError: ")) take_pid(out, text, 13);
      if (text.starts_with("LustreError: ") && text.substr(0, 20).find("-0:") != text.npos)
        out.pid.reset();  // LustreError: 11-0: a message number
      out.device = bounded(between(text, "server ", " "));
      return;
    case KernelKind::file_system: {
      const std::string_view device = between(text, "(device ", ")");
      out.device = bounded(device.empty() ? between(text, "(", ")") : device);
      out.command = bounded(between(text, ": comm ", ":"));
      return;
    }
    case KernelKind::pcie:
      out.corrected = text.find("Corrected") != text.npos || text.find("Correctable") != text.npos;
      out.device = device_of(text, out.kind);
      return;
    default:
      out.device = device_of(text, out.kind);
      return;
  }
}

}  // namespace

std::string_view name(KernelKind kind) {
  constexpr std::array<std::string_view, 18> kNames{
      "xid",          "sxid",      "gpu",     "oom_kill", "oom",         "machine_check",
      "pcie",         "link_down", "link_up", "disk",     "file_system", "network_storage",
      "storage_back", "hung_task", "lockup",  "fault",    "panic",       "thermal"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<KernelEvidence> read_evidence(std::string_view text) {
  for (const KernelRule& rule : kernel_rules()) {
    if (rule.front ? !text.starts_with(rule.first) : text.find(rule.first) == text.npos) continue;
    if (!rule.second.empty() && text.find(rule.second) == text.npos) continue;
    if (!rule.not_with.empty() && text.find(rule.not_with) != text.npos) continue;
    KernelEvidence out;
    out.kind = rule.kind;
    details(out, text);
    return out;
  }
  return std::nullopt;
}

}  // namespace l4::host
