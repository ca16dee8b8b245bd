#include "agent/pipeline/secrets.h"

#include <string>
#include <vector>

#include "common/base/check.h"

namespace l4::pipeline {
namespace {

/// A value behind `key:` or `key=`, in quotation marks, escaped ones, or none.
constexpr auto kValue = R"(\\?["']?\s*[:=]\s*(?:"[^"]*"|'[^']*'|\\"[^"\\]*\\?"|[^\s,;&"'\\]+))";

std::vector<std::string> forms() {
  return {
      // Headers, and the kinds of tokens that they hold.
      R"((?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:[a-z]+\s+)?[^\s,;"'\\]+)",
      R"((?i)\bbearer\s+[a-z0-9._~+/=-]{8,})",
      R"(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
      // scheme://user:password@host
      R"(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"']*:[^\s/@"']+@)",
      // Values behind telling keys. `token` alone does not count: models count tokens.
      std::string(R"((?i)\b[a-z0-9_.-]*(?:passw(?:or)?d|passphrase|secret|credentials?|)")
          .append(R"(api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|)")
          .append(R"((?:auth|access|refresh|session|security|api|hub|hf|hugging_?face\w*|wandb|)")
          .append(R"(github|gitlab|slack|bot)[_-]?token)[a-z0-9_-]*)")
          .append(kValue),
      R"((?i)\bwandb[a-z_. ]{0,24}(?:key|login)\S*?["'\s:=]+[0-9a-f]{40}\b)",
      // Recognised by their own form: Hugging Face, Weights & Biases, AWS, GitHub, GitLab, Slack,
      // OpenAI and
      // Anthropic, Google, NVIDIA, this program's own.
      R"(\b(?:hf_|api_org_)[A-Za-z0-9]{20,})",
      R"(\bwandb_v1_[A-Za-z0-9_]{20,})",
      R"(\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b)",
      R"(\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}))",
      R"(\bxox[abeoprs]-[A-Za-z0-9-]{10,})",
      R"(\bsk-[A-Za-z0-9_-]{20,})",
      R"(\bAIza[0-9A-Za-z_-]{35})",
      R"(\bnvapi-[A-Za-z0-9_-]{20,})",
      R"(\bl4_[0-9a-f]{64}\b)",
      R"(-----BEGIN [A-Z ]*PRIVATE KEY-----.*)",
  };
}

}  // namespace

std::unique_ptr<const Redaction> known_secrets() {
  std::size_t where = 0;
  auto made = Redaction::make(forms(), where);
  L4_CHECK(made.has_value(), "form {} of a secret is no expression: {}", where,
           made.error().reason);
  return std::move(*made);
}

}  // namespace l4::pipeline
