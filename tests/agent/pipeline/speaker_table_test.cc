// The speakers of a file, and their sources.
#include "agent/pipeline/speaker_table.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace l4::pipeline {
namespace {

discover::LogFile file_of(wire::SourceKind kind) {
  discover::LogFile file;
  file.name = "a/job.log";
  file.node = "a";
  file.kind = kind;
  return file;
}

decode::Speaker speaker(std::string_view host, std::optional<std::int32_t> rank = std::nullopt,
                        std::optional<std::int32_t> local = std::nullopt) {
  decode::Speaker made;
  made.host = host;
  if (rank) made.rank = Rank{*rank};
  made.local_rank = local;
  return made;
}

TEST_CASE("a merged file has a source per speaker") {
  const discover::LogFile file = file_of(wire::SourceKind::merged);
  SpeakerTable table(file);
  CHECK(table.find(speaker("", 4)).created);
  CHECK(table.find(speaker("", 5)).created);
  CHECK_FALSE(table.find(speaker("", 4)).created);
  CHECK(table.find(speaker("")).created);           // a line without a speaker: the launcher's
  CHECK(table.find(speaker("", {}, 4)).created);    // a local rank is another speaker
  CHECK(table.find(speaker("node-1", 4)).created);  // so is a rank of another host
  CHECK(table.size() == 5);
  for (const auto& known :
       {speaker("", 4), speaker("", 5), speaker(""), speaker("", {}, 4), speaker("node-1", 4)}) {
    const std::size_t place = table.lookup(known);
    CHECK(table.find(known).speaker == place);
  }
  CHECK(table.lookup(speaker("", 99)) == 0);
  CHECK(table.size() == 5);
}

TEST_CASE("speakers of a merged file are defined by their lines") {
  const discover::LogFile file = file_of(wire::SourceKind::merged);
  SpeakerTable table(file);
  const auto ranked = table.definition(table.find(speaker("node-1", 4)).speaker);
  CHECK(ranked.rank == Rank{4});
  CHECK(ranked.rank_source == RankSource::line);
  CHECK(ranked.kind == wire::SourceKind::rank);
  CHECK(ranked.node == "node-1");
  CHECK(ranked.path == "a/job.log");
  const auto local = table.definition(table.find(speaker("", {}, 2)).speaker);
  CHECK_FALSE(local.rank.has_value());
  CHECK(local.local_rank == 2);
  CHECK(local.kind == wire::SourceKind::rank);
  CHECK(local.node == "a");
  const auto launcher = table.definition(table.find(speaker("")).speaker);
  CHECK_FALSE(launcher.rank.has_value());
  CHECK(launcher.kind == wire::SourceKind::merged);
}

TEST_CASE("a kernel message about a rank is the kernel's, and that rank's") {
  discover::LogFile file = file_of(wire::SourceKind::kernel);
  file.node_known = true;
  SpeakerTable table(file);
  const std::size_t host = table.find(speaker("")).speaker;
  const Attribution whose{"node-1", Rank{3}, 1};
  const std::size_t rank = table.find(whose).speaker;
  CHECK(rank != host);
  CHECK(table.find(speaker("")).speaker == host);
  CHECK(table.find(speaker("node-1", 3)).speaker != rank);  // a line that names the rank itself
  CHECK_FALSE(table.find(whose).created);
  CHECK(table.find(Attribution{"node-1", Rank{3}, 2}).created);
  const auto source = table.definition(rank);
  CHECK(source.kind == wire::SourceKind::kernel);
  CHECK(source.node == "node-1");
  CHECK(source.rank == Rank{3});
  CHECK(source.rank_source == RankSource::env);
  CHECK(source.attempt == 1);
  CHECK_FALSE(table.definition(host).rank);
}

TEST_CASE("a node that the path names stays, whatever host a line names") {
  discover::LogFile file = file_of(wire::SourceKind::merged);
  file.node_known = true;
  SpeakerTable table(file);
  CHECK(table.definition(table.find(speaker("elsewhere", 4)).speaker).node == "a");
}

TEST_CASE("a rank's file is one source, and the path's rank is its rank") {
  discover::LogFile file = file_of(wire::SourceKind::rank);
  file.rank = Rank{7};
  file.attempt = 2;
  SpeakerTable table(file);
  for (int i = 0; i < 5; ++i) CHECK(table.find(speaker("", 3)).speaker == 0);
  CHECK(table.size() == 1);
  const auto source = table.definition(0);
  CHECK(source.rank == Rank{7});
  CHECK(source.rank_source == RankSource::env);
  CHECK(source.attempt == 2);
}

TEST_CASE("without a rank in the path most of its lines decide") {
  struct Row {
    std::vector<int> said;
    std::optional<int> rank;
  };
  for (const Row& row : {Row{{5, 5, 5, 6}, 5}, Row{{5, 6, 6, 6}, 6}, Row{{5, 6}, {}}, Row{{}, {}},
                         Row{{1, 2, 3, 3}, {}}, Row{{0}, 0}}) {
    const discover::LogFile file = file_of(wire::SourceKind::rank);
    SpeakerTable table(file);
    table.find(speaker(""));
    for (const int rank : row.said) table.find(speaker("", rank));
    const auto source = table.definition(0);
    CHECK((source.rank ? std::optional(source.rank->value()) : std::nullopt) == row.rank);
    CHECK(name(source.rank_source) == (row.rank ? "line" : "none"));
    CHECK(table.size() == 1);
  }
}

TEST_CASE("places are dense, stable and bounded") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const discover::LogFile file = file_of(wire::SourceKind::merged);
  SpeakerTable table(file);
  std::vector<std::size_t> place_of(300, ~std::size_t{0});
  for (int i = 0; i < 5000; ++i) {
    const auto rank = static_cast<std::int32_t>(random() % place_of.size());
    const auto before = table.size();
    const auto found = table.find(speaker("", rank));
    std::size_t& known = place_of[static_cast<std::size_t>(rank)];
    CHECK(found.created == (known == ~std::size_t{0}));
    if (found.created) {
      CHECK(found.speaker == before);
      known = found.speaker;
    }
    CHECK(found.speaker == known);
  }
  const discover::LogFile merged = file_of(wire::SourceKind::merged);
  SpeakerTable full(merged);
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(SpeakerTable::kSpeakersMax) + 50;
       ++rank)
    full.find(speaker("", rank));
  CHECK(full.size() == SpeakerTable::kSpeakersMax);
  CHECK(full.find(speaker("", 1'000'000)).speaker == 0);
  CHECK(full.find(speaker("", 77)).speaker == 77);
}

}  // namespace
}  // namespace l4::pipeline
