// A generated fault library of any size, made of words that are frequent in training logs, from a
// fixed seed: like the real library at many times its size. For tests and bench/faults_bench.cc.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/temp_folder.h"

namespace l4::faults {

class MadeLibrary {
 public:
  /// Writes `entries` entries, some three patterns each, into files of fifty.
  explicit MadeLibrary(std::size_t entries) {
    for (std::size_t i = 0; i < entries; ++i) {
      std::ofstream out(folder() / ("family" + std::to_string(i / 50) + ".toml"),
                        i % 50 == 0 ? std::ios::trunc : std::ios::app);
      out << entry(i);
    }
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  /// A matching line for each entry.
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<std::string>& patterns() const { return patterns_; }

  /// Templates of the same words that no entry matches.
  std::vector<std::string> harmless(std::size_t count) {
    std::vector<std::string> texts;
    while (texts.size() < count) {
      std::string text(word(kComponents));
      for (std::size_t words = 4 + random_() % 20; words > 0; --words) {
        text.append(" ").append(word(random_() % 3 == 0 ? kActions : kThings));
        if (random_() % 3 == 0) text += " <*>";
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }

 private:
  using Words = std::array<std::string_view, 24>;
  static constexpr Words kComponents{
      "NCCL WARN",     "RuntimeError:",   "[c10d]",          "ProcessGroupNCCL",
      "CUDA error:",   "NVRM:",           "mlx5_core",       "[ERROR] HCCL",
      "DeepSpeed",     "OSError:",        "ValueError:",     "srun: error:",
      "kubelet",       "Lustre:",         "nvidia-smi",      "torch.distributed.elastic",
      "megatron.core", "[ERROR] RUNTIME", "EXT4-fs",         "ray.exceptions",
      "raylet",        "transformers",    "AttributeError:", "systemd"};
  static constexpr Words kActions{
      "failed", "refused",  "aborted",  "timed out", "exceeded", "rejected", "lost",    "closed",
      "found",  "expected", "returned", "received",  "opened",   "expired",  "dropped", "detected",
      "reset",  "missing",  "invalid",  "corrupt",   "mismatch", "stopped",  "killed",  "unable"};
  static constexpr Words kThings{
      "memory",    "queue pair", "tensor",     "checkpoint", "communicator", "rank",
      "device",    "kernel",     "stream",     "gradient",   "socket",       "rendezvous",
      "tokenizer", "config",     "link",       "port",       "storage",      "container",
      "cgroup",    "optimizer",  "collective", "loader",     "shard",        "driver"};

  std::string_view word(const Words& words) { return words[random_() % words.size()]; }

  /// Adds one pattern to `patterns` and a line that it matches to `lines`, each with the number of
  /// the entry in words, so that no other entry matches.
  void add(std::size_t number, std::string& patterns, std::string& lines) {
    const std::string component(word(kComponents)), thing(word(kThings)), action(word(kActions));
    const std::string other(word(kThings)), own = name(number);
    std::string pattern, line;
    switch (random_() % 4) {
      case 0:
        pattern = thing + " " + own + " (?:was )?" + action + " after {n} ms";
        line = thing + " " + own + " " + action + " after 17 ms";
        break;
      case 1:
        pattern = "[Cc]annot use " + own + ".*" + action + " " + other;
        line = "cannot use " + own + " of rank 5: " + action + " " + other;
        break;
      case 2:
        pattern = "(?:" + own + "|" + own + "_" + action + ")\\b.* " + thing + " {w} " + other;
        line = own + ": " + thing + " /data/x " + other;
        break;
      default:
        pattern = action + " " + thing + " {n} of " + own + "(?: with " + other + ")?";
        line = action + " " + thing + " 4 of " + own;
    }
    patterns_.push_back(pattern);
    lines_.push_back(component + " " + line);
    patterns.append(patterns.empty() ? "'" : ", '").append(pattern).append("'");
    lines.append(lines.empty() ? "'" : ", '").append(lines_.back()).append("'");
  }

  /// Made-up names that differ as much as real ones.
  static std::string name(std::size_t number) {
    constexpr std::array<std::string_view, 16> kParts{"ba", "ce", "di", "fo", "gu", "ha",
                                                      "je", "ki", "lo", "mu", "na", "pe",
                                                      "ri", "so", "tu", "va"};
    std::string text;
    for (int i = 0; i < 4; ++i, number /= 16) text += kParts[number % 16];
    return text;
  }

  std::string entry(std::size_t number) {
    std::string patterns, lines;
    for (int i = 0; i < 3; ++i) add(number, patterns, lines);
    const std::string id = "made_" + std::to_string(number);
    const std::string sentence =
        "The " + std::string(word(kThings)) + " of " + name(number) +
        " was busy for longer than it may be, or the other side had closed it before.";
    return "[[fault]]\nid = '" + id + "'\ntitle = '" + id +
           "'\ncategory = 'hardware'\nsubcategory = 'network'\nscope = 'rank'\nseverity = 'error'\n"
           "patterns = [" +
           patterns + "]\ncause = '" + sentence + "'\nfix = '" + sentence + "'\naction = '" +
           sentence + "'\nmatches = [" + lines + "]\nrejects = ['" + sentence + "']\n\n";
  }

  l4::test::TempFolder folder_;
  std::mt19937 random_{11};
  std::vector<std::string> lines_, patterns_;
};

}  // namespace l4::faults
