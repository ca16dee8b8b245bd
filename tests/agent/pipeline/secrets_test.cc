#include "agent/pipeline/secrets.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace l4::pipeline {
namespace {

TEST_CASE("secrets: known forms are blotted out") {
  struct Row {
    std::string_view line, secret;
  };
  constexpr Row kRows[] = {
      {"GET /x Authorization: Bearer abcdef123456ghi", "abcdef123456ghi"},
      {"headers={'authorization': 'Basic dXNlcjpwdw=='}", "dXNlcjpwdw"},
      {"{\"msg\": \"{\\\"Authorization\\\": \\\"token 0123abc\\\"}\"}", "0123abc"},
      {"using bearer eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ", "eyJzdWIiOiIx"},
      {"jwt eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSM", "SflKxwRJSM"},
      {"clone https://me:s3cr3t@git.example/x.git", "s3cr3t"},
      {"redis://:hunter2@cache:6379/0", "hunter2"},
      {"login with hf_abcdefghijklmnopqrstuvwx", "hf_abc"},
      {"export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "01234567"},
      {"wandb login 0123456789abcdef0123456789abcdef01234567", "0123456789"},
      {"key AKIAABCDEFGHIJKLMNOP used", "AKIAABCDEFGHIJKLMNOP"},
      {"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr"},
      {"DB_PASSWORD=correct-horse", "correct-horse"},
      {"{\"password\": \"with blanks in it\"}", "blanks"},
      {"passwd: 'a b'", "a b"},
      {"--hf-token=abc123", "abc123"},
      {"ghp_abcdefghijklmnopqrstuvwxyz0123", "ghp_"},
      {"glpat-abcdefghijklmnopqrst", "glpat"},
      {"xoxb-123456789012-abcdef", "xoxb"},
      {"key sk-"
       "proj-abcdefghijklmnopqrstuv",
       "abcdefghij"},
      {"-----BEGIN RSA PRIVATE KEY-----MIIEow", "MIIEow"},
  };
  const auto secrets = known_secrets();
  REQUIRE(secrets);
  std::string scratch;
  for (const Row& row : kRows) {
    CAPTURE(row.line);
    const std::string_view left = secrets->apply(row.line, scratch);
    CHECK(left.find(row.secret) == std::string_view::npos);
    CHECK(left.contains(Redaction::kBlot));
  }
}

TEST_CASE("secrets: ordinary lines of training stay unchanged") {
  constexpr std::string_view kLines[] = {
      "step 5 | tokens: 4096 | tokens/s: 12345.6 | loss: 2.31",
      "consumed tokens = 1048576, token budget: 3e12",
      "NCCL INFO Channel 00/02 : 0[0] -> 1[1] via P2P/CUMEM",
      "Saving checkpoint to s3://bucket/run-1/step_100 with 8 shards",
      "tokenizer: meta/Llama-3, pad_token=<pad>, eos_token_id=2",
      "connecting to tcp://10.0.0.1:29500 (timeout 600 s)",
      "git commit 0123456789abcdef0123456789abcdef01234567",
      "rank 3: RuntimeError: CUDA error: unspecified launch failure",
      "https://wandb.ai/team/project/runs/abc123",
  };
  const auto secrets = known_secrets();
  std::string scratch;
  for (const std::string_view line : kLines) {
    CAPTURE(line);
    CHECK(secrets->apply(line, scratch) == line);
  }
}

}  // namespace
}  // namespace l4::pipeline
