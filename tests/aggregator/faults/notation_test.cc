// A pattern written like the line matches the line and its masked form.
#include "aggregator/faults/notation.h"

#include <doctest/doctest.h>
#include <re2/re2.h>

#include <string>
#include <vector>

#include "common/drain/codes.h"
#include "common/drain/mask.h"

namespace l4::faults {
namespace {

bool matches(const char* pattern, const std::string& text) {
  const re2::RE2 regexp(expand_pattern(pattern), re2::RE2::Quiet);
  REQUIRE_MESSAGE(regexp.ok(), pattern, ": ", expand_pattern(pattern));
  return re2::RE2::PartialMatch(text, regexp);
}

std::string masked(const std::string& line) {
  return drain::text(drain::masked_row(line, drain::default_codes()));
}

TEST_CASE("notation: one pattern for a line and its template") {
  struct Row {
    const char *pattern, *line;
  };
  const std::vector<Row> rows{
      {"took {n} of {w}", "took 12.5 of 20"},
      {"Failed  to read {w} of", "x Failed to  read /a/b.py of"},
      {"from rank {n}, retcode {n}", "operation Close from rank 5, retcode 3"},
      {"task {n}: Terminated", "srun: error: node-3: task 12: Terminated"},
      {"\\[Proxy Service {n}\\] Failed", "[Proxy Service 5] Failed"},
      {"block: \\[{n},{n},{n}\\], thread", "block: [0,0,0], thread"},
      {"Device: {w}, Critical", "Device: /dev/nvme0, Critical"},
      {"XFS \\({w}\\): Metadata corruption", "XFS (nvme1n1): Metadata corruption"},
      {"left on device \\({n}\\)", "No space left on device (28)"},
      {"EXT4-fs error", "EXT4-fs error (device nvme0n1p1)"},
      {"mlx5_core {w} {w}: Link down", "mlx5_core 0000:5e:00.0 ens5f0np0: Link down"},
      {"nvmlDeviceGetP2PStatus\\({n},{n}\\) failed", "nvmlDeviceGetP2PStatus(3,4) failed"},
      {"bfloat16 and fp16 modes", "bfloat16 and fp16 modes cannot"},
      {"after {n} ms, giving up", "after 250 ms, giving up"},
      {"is {n} GiB\\) too", "it (which is 3.5 GiB) too"},
      {"[Tt]imed out \\{{n}\\} at", "timed out {7} at"},
      {"port {n} {w}: link lost", "port 3 10.0.0.1:80: link lost"},
      {"line {n}: {w}: unbound", "run.sh: line 14: SLURM_NODEID: unbound variable"},
      {"set timeout \\({n} ms\\) and", "ran for more than set timeout (60000 ms) and will"},
      {"received SIGUSR1\\b", "rank 3: received SIGUSR1"},
      {"size {n}\\b.* of \\b{n}", "size 12 out of 20"},
      {" error {n} ", "an error 5 here"},
      {"on .*: Invalid", "Exception on (GPC 2, TPC 0, SM 0): Invalid Address"},
      {"call .*\\) failed", "call (f, 12) failed"},
      {"tls: .* x509: certificate", "tls: failed to verify certificate: x509: certificate signed"},
      {"x[ ]{1,3}y", "x  y"},
  };
  for (const Row& row : rows) {
    CHECK_MESSAGE(matches(row.pattern, row.line), row.pattern);
    CHECK_MESSAGE(matches(row.pattern, masked(row.line)), row.pattern, ": ", masked(row.line));
  }
}

TEST_CASE("notation: what must be there") {
  CHECK_FALSE(matches("task {n}: Terminated", "task : Terminated"));
  CHECK_FALSE(matches("rank {n}, retcode", "rank retcode"));
  CHECK_FALSE(matches("error code is 507015", "error code is <*>"));
  CHECK_FALSE(matches("EJ0002: port", "EJ<*>: port"));
  CHECK_FALSE(matches("got 0 bytes", "got <*> bytes"));
  CHECK_FALSE(matches("XFS \\({w}\\): Metadata", "XFS of Metadata"));
  CHECK_FALSE(matches("a b", "ab"));
  CHECK_FALSE(matches("[^ ]b", " b"));
  CHECK(matches("[^ ]b", "+b"));
  CHECK(matches("ab {0,2}c", "abc"));
  CHECK_FALSE(matches(" error", "error"));
  CHECK_FALSE(matches("error ", "error"));
  CHECK_FALSE(matches("received SIGUSR1\\b", "received SIGUSR12"));
  CHECK_FALSE(matches("after {n} ms", "after it"));
  CHECK(expand_pattern("a[ 4]\\d{2,3} x5?") == "a[ 4]\\d{2,3} +x5?");
}

}  // namespace
}  // namespace l4::faults
