// What a NodeAgent is made of: its files, tree, segmenters, index and the batch under way.
//
// Private to agent/: node_agent.cc reads and ships, node_recall.cc answers questions.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/file_parts.h"
#include "agent/file_runs.h"
#include "agent/forgotten_list.h"
#include "agent/node_agent.h"
#include "agent/recall/segment_index.h"
#include "agent/segment/run_watch.h"
#include "agent/segment/segmenter.h"
#include "agent/speaker_table.h"
#include "agent/traits_table.h"

namespace l4::agent {

/// A file and the sources (speakers) found in it.
struct OpenFile {
  explicit OpenFile(discover::LogFile given)
      : file(std::move(given)), parts(parts_of(file)), speakers(file) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  discover::LogFile file;
  std::vector<FilePart> parts;
  SpeakerTable speakers;
  FileRuns runs;
  segment::RunWatch watch;
  std::vector<segment::IterationLearner> learners;  // by speaker, from the run before
  decode::Stats stats;
  std::string_view time_format;
  std::optional<LocalTemplateId> marker;  // of iterations: the one that marked most
  std::uint64_t marks = 0;
  std::string marker_text;
};

struct NodeAgent::State {
  std::string name;
  const segment::RulePackSet* packs;
  Options options;
  wire::Sender* sender = nullptr;  // only while read_all() runs
  drain::TemplateMiner miner;
  std::deque<OpenFile> files;
  std::vector<std::size_t> file_of_source;
  std::vector<std::unique_ptr<segment::Segmenter>> segmenters;  // by source
  std::map<SourceId, wire::SourceDefinition> sent_sources;      // of the run being read
  TraitsTable traits;
  std::set<std::string, std::less<>> known_packs;
  ForgottenList forgotten;
  std::uint64_t by_half = 0;  // of the lines, as told
  recall::SegmentIndex index;
  wire::Batch batch;
  std::size_t batch_events = 0;
  std::vector<const segment::Timer*> timers;  // by the id used on the wire
  std::uint64_t sequence = 0;
  std::unique_ptr<char[]> chunk;  // while read_all() runs

  void read_file(OpenFile& open, std::atomic<std::uint64_t>& bytes_done,
                 const std::stop_token& stop);
  void on_record(OpenFile& open, const decode::Record& record);
  segment::TemplateTraits& traits_of(LocalTemplateId id, const decode::Record& record);
  SourceId add_source(OpenFile& open, std::size_t speaker);
  void begin_run(OpenFile& open, std::uint64_t from_byte);
  void finish_run(OpenFile& open, bool last);
  void on_segment(wire::Segment&& segment, std::span<const wire::ByteRange> where);
  void finish_file(OpenFile& open, const decode::Decoder& decoder);
  void flush();
  void define_changed();
  void take_forgotten();
};

}  // namespace l4::agent
