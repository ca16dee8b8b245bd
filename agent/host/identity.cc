#include "agent/host/identity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "agent/host/identity_rules.h"

namespace l4::host {
namespace {

constexpr std::size_t kConflictsMax = 8, kNameBytesMax = 256;
constexpr std::uint32_t kCountMax = 10'000'000;
constexpr std::uint32_t kSpecialStep = 0xfffffff0U;  // Slurm's own steps: batch, extern, ...

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int32_t> count(std::string_view text) {
  const auto value = number(text);
  if (!value || *value > kCountMax) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

bool counts(const Environment& env, const NumberRule& rule) {
  const std::string* needed = rule.needs.empty() ? nullptr : env.find(rule.needs);
  if (!rule.needs.empty() && needed == nullptr) return false;
  return rule.needs_value.empty() || *needed == rule.needs_value;
}

std::string pair_text(std::string_view key, std::string_view value) {
  return std::string{key} + "=" + std::string{value};
}

void disagree(Identity& out, std::string_view field, std::string believed, std::string other) {
  if (out.conflicts.size() < kConflictsMax)
    out.conflicts.push_back({field, std::move(believed), std::move(other)});
}

Known<std::int32_t> first_of(const Environment& env, Field field) {
  for (const NumberRule& rule : number_rules()) {
    if (rule.field != field || !counts(env, rule)) continue;
    if (const auto value = count(env.get(rule.key))) return {value, Origin::env, rule.key};
  }
  return {};
}

/// The rank and its world size. Other rows with a world of the same size should agree.
void take_rank(const Environment& env, Identity& out) {
  const auto rules = number_rules();
  for (std::size_t row = 0; row < rules.size(); ++row) {
    const NumberRule& rule = rules[row];
    if (rule.field != Field::rank || !counts(env, rule)) continue;
    const auto rank = count(env.get(rule.key));
    const auto size = count(env.get(rule.size));
    if (!rank) continue;
    if (size && *rank >= *size) {
      disagree(out, "rank", pair_text(rule.size, env.get(rule.size)),
               pair_text(rule.key, env.get(rule.key)));
      continue;
    }
    if (!out.rank) {
      out.rank = {Rank{*rank}, Origin::env, rule.key};
      if (size) out.world_size = {size, Origin::env, rule.size};
      out.rule = row;
    } else if (size && out.world_size && *size == *out.world_size && *rank != out.rank->value()) {
      disagree(out, "rank", pair_text(out.rank.from, std::to_string(out.rank->value())),
               pair_text(rule.key, env.get(rule.key)));
    }
  }
}

void derive(const Environment& env, Identity& out) {
  if (!out.world_size) {
    const auto nodes = count(env.get("PET_NNODES")), each = count(env.get("PET_NPROC_PER_NODE"));
    if (nodes && each && std::int64_t{*nodes} * *each <= kCountMax)
      out.world_size = {*nodes * *each, Origin::derived, "PET_NNODES"};
  }
  if (out.rank || !out.local_rank || !out.node_rank) return;
  const bool first = *out.node_rank == 0;
  if (!first && !out.local_world_size) return;
  const std::int64_t rank =
      std::int64_t{*out.node_rank} * (first ? 0 : *out.local_world_size) + *out.local_rank;
  if (rank > kCountMax || (out.world_size && rank >= *out.world_size)) return;
  out.rank = {Rank{static_cast<std::int32_t>(rank)}, Origin::derived, out.node_rank.from};
  out.rule = number_rules().size();
}

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// `JOB-worker-3`, `JOB-node-0-1-x7k2p` (JobSet), `JOB-TASK-3` (Volcano): the job, else empty.
std::string_view job_of_pod(std::string_view pod, bool any_role) {
  constexpr auto kRoles = std::to_array<std::string_view>(
      {"worker", "master", "launcher", "chief", "ps", "node", "head", "scheduler", "server",
       "evaluator", "trainer", "coordinator"});
  const auto cut = [&pod] {
    const std::size_t dash = pod.rfind('-');
    const std::string_view last = dash == pod.npos ? std::string_view{} : pod.substr(dash + 1);
    pod = dash == pod.npos ? std::string_view{} : pod.substr(0, dash);
    return last;
  };
  std::string_view last = cut();
  if (!digits(last) && last.size() == 5) last = cut();
  if (!digits(last)) return {};
  last = cut();
  if (digits(last)) last = cut();
  const bool role = any_role || std::ranges::find(kRoles, last) != kRoles.end();
  return role && !last.empty() ? pod : std::string_view{};
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && text != "none" &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

void take_job(const Environment& env, Identity& out) {
  for (const JobRule& rule : job_rules()) {
    std::string job{env.get(rule.key)};
    if (rule.key == "HOSTNAME") {
      const bool volcano = env.find("VC_TASK_INDEX") != nullptr || env.find("VK_TASK_INDEX");
      const bool pod = volcano || env.find("KUBERNETES_SERVICE_HOST") != nullptr;
      job = pod ? job_of_pod(job, volcano) : std::string_view{};
    }
    if (!rule.second.empty()) {
      const std::string_view second = env.get(rule.second);
      if (second.empty()) continue;
      job += "_" + std::string{second};
    }
    if (!is_name(job)) continue;
    out.job = {std::move(job), Origin::env, rule.key};
    return;
  }
}

void take_attempt(const Environment& env, Identity& out) {
  AttemptKey key;
  for (const NumberRule& rule : number_rules()) {
    const auto value = number(env.get(rule.key));
    if (!value || *value >= kSpecialStep) continue;
    if (rule.field == Field::restart) key.restart = *value;
    if (rule.field == Field::requeue) key.requeue = *value;
    if (rule.field == Field::step) key.step = *value;
    const bool any =
        rule.field == Field::restart || rule.field == Field::requeue || rule.field == Field::step;
    if (any) out.attempt = {key, Origin::env, rule.key};
  }
}

/// The value that all paths agree on.
template <class T, class Get>
std::optional<T> agreed(const std::vector<discover::PathFacts>& paths, Get get) {
  std::set<T> values;
  for (const auto& path : paths)
    if (const std::optional<T> value = get(path)) values.insert(*value);
  return values.size() == 1 ? std::optional<T>(*values.begin()) : std::nullopt;
}

template <class T>
void fill(Known<T>& known, const std::optional<T>& value, Origin origin) {
  if (!known && value) known = {value, origin, origin == Origin::path ? "path" : "config"};
}

std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

void take_paths(const IdentityHints& hints, Identity& out) {
  using discover::PathFacts;
  const auto text = [](const std::string& word) {
    return word.empty() ? std::nullopt : std::optional<std::string>(word);
  };
  const auto& paths = hints.paths;
  const auto rank = agreed<Rank>(paths, [](const PathFacts& p) { return p.rank; });
  const auto local = agreed<std::int32_t>(paths, [](const PathFacts& p) { return p.local_rank; });
  if (rank && out.rank && *rank != *out.rank)
    disagree(out, "rank", pair_text(out.rank.from, std::to_string(out.rank->value())),
             pair_text("path", std::to_string(rank->value())));
  if (local && out.local_rank && *local != *out.local_rank)
    disagree(out, "local_rank", pair_text(out.local_rank.from, std::to_string(*out.local_rank)),
             pair_text("path", std::to_string(*local)));
  if (out.node && !hints.node.empty() && short_name(*out.node) != short_name(hints.node))
    disagree(out, "node", pair_text(out.node.from, *out.node), pair_text("path", hints.node));
  fill(out.rank, rank, Origin::path);
  fill(out.local_rank, local, Origin::path);
  fill(out.node, text(hints.node), Origin::path);
  fill(out.node,
       agreed<std::string>(
           paths, [&](const PathFacts& p) { return p.node_known ? text(p.node) : std::nullopt; }),
       Origin::path);
  fill(out.job,
       agreed<std::string>(
           paths, [&](const PathFacts& p) { return is_name(p.job) ? text(p.job) : std::nullopt; }),
       Origin::path);
  std::int32_t attempt = 0;
  for (const PathFacts& path : paths) attempt = std::max(attempt, path.attempt);
  if (!paths.empty()) fill(out.path_attempt, {attempt}, Origin::path);
}

}  // namespace

Identity identify(const Environment& env, const IdentityHints& hints) {
  Identity out;
  take_rank(env, out);
  out.local_rank = first_of(env, Field::local_rank);
  out.local_world_size = first_of(env, Field::local_world_size);
  out.node_rank = first_of(env, Field::node_rank);
  if (!out.world_size) out.world_size = first_of(env, Field::world_size);
  if (out.rank && out.world_size && out.rank->value() >= *out.world_size) out.world_size = {};
  derive(env, out);
  take_job(env, out);
  if (!out.job && is_name(hints.rendezvous)) out.job = {hints.rendezvous, Origin::env, "--rdzv_id"};
  take_attempt(env, out);
  if (const auto node = env.get("SLURMD_NODENAME"); is_name(node))
    out.node = {std::string{node}, Origin::env, "SLURMD_NODENAME"};
  take_paths(hints, out);
  const auto text = [](const std::string& word) {
    return word.empty() ? std::nullopt : std::optional<std::string>(word);
  };
  fill(out.job, text(hints.config_job), Origin::config);
  fill(out.node, text(hints.config_node), Origin::config);
  fill(out.rank, hints.config_rank, Origin::config);
  fill(out.local_rank, hints.config_local_rank, Origin::config);
  const bool fits = !out.rank || out.rank->value() < hints.config_world_size.value_or(0);
  if (fits) fill(out.world_size, hints.config_world_size, Origin::config);
  return out;
}

RankSource rank_source(Origin origin) {
  switch (origin) {
    case Origin::env:
      return RankSource::env;
    case Origin::derived:
    case Origin::path:
    case Origin::config:
      return RankSource::derived;
    case Origin::none:
      break;
  }
  return RankSource::none;
}

std::string_view name(Origin origin) {
  constexpr std::array<std::string_view, 5> kNames{"none", "env", "derived", "path", "config"};
  return kNames[static_cast<std::size_t>(origin)];
}

}  // namespace l4::host
