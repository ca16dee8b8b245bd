// What a NodeAgent is made of: its files, the pipeline that reads them, the index for recall.
//
// Private to agent/: node_agent.cc reads and ships, node_recall.cc answers questions.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "agent/file_parts.h"
#include "agent/node_agent.h"
#include "agent/recall/segment_index.h"

namespace l4::agent {

/// A file, the physical files it is made of, and its number in the pipeline.
struct OpenFile {
  std::vector<FilePart> parts;  ///< the newest last, which has the log's name
  pipeline::LogNumber log;
};

struct NodeAgent::State : pipeline::Output {
  State(std::string name_, const segment::RulePackSet& packs, const Options& options_)
      : name(std::move(name_)), options(options_), pipeline("", packs, options_, *this) {}

  void read_file(OpenFile& open, std::span<char> chunk, std::atomic<std::uint64_t>& bytes_done,
                 const std::stop_token& stop);
  void batch(wire::Batch&& batch) override;
  void segment(const wire::Segment& segment, std::span<const wire::ByteRange> where) override {
    index.add(segment, where);
  }
  void forgotten(const std::vector<LocalTemplateId>& ids) override { index.forget(ids); }
  void sources_forgotten(const std::vector<SourceId>& sources) override { index.forget(sources); }

  std::string name;
  Options options;
  pipeline::JobPipeline pipeline;
  std::deque<OpenFile> files;  ///< by number in the pipeline
  recall::SegmentIndex index;
  wire::Sender* sender = nullptr;  ///< only while read_all() runs
  std::uint64_t sequence = 0;
};

}  // namespace l4::agent
