// Maps the speakers of a file to sources, for each run that the file holds.
//
// Place in the flow: JobPipeline asks for the current run while it reads a file, a recall for the
// run that holds a byte, and so does a record that waited in the decoder while a new run began. One
// per file, one thread. Bounded by speakers x runs: the sources of the newest kRunsMax runs are
// kept, twice as many as JobState keeps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/base/ids.h"

namespace l4::pipeline {

class FileRuns {
 public:
  static constexpr std::size_t kRunsMax = 64;

  /// Number of the current run, from 0.
  std::uint32_t current() const {
    return forgotten_ + static_cast<std::uint32_t>(runs_.size() - 1);
  }
  /// Begins a run; returns the sources of the oldest run if it is forgotten for the new one.
  std::vector<SourceId> begin(std::uint64_t from_byte) {
    runs_.push_back({from_byte, {}});
    std::vector<SourceId> gone;
    if (runs_.size() <= kRunsMax) return gone;
    for (const auto& source : runs_.front().sources)
      if (source) gone.push_back(*source);
    runs_.pop_front();
    ++forgotten_;
    return gone;
  }

  /// Forgets the runs that begin behind this byte, because the text from there on is read again.
  void go_back(std::uint64_t to_byte) {
    while (runs_.size() > 1 && runs_.back().from > to_byte) runs_.pop_back();
  }

  /// The byte stands before the current run.
  bool is_past(std::uint64_t byte) const { return byte < runs_.back().from; }

  std::optional<SourceId> source(std::size_t speaker) const { return runs_.back().source(speaker); }
  void add(std::size_t speaker, SourceId source) { runs_.back().add(speaker, source); }

  /// A run that is kept, with its number.
  struct Past {
    std::uint32_t number = 0;
    std::optional<SourceId> source;  ///< of the speaker
  };
  /// The run that holds the byte; the oldest that is kept for bytes before it.
  Past at(std::size_t speaker, std::uint64_t byte) const {
    const std::size_t index = index_at(byte);
    return {forgotten_ + static_cast<std::uint32_t>(index), runs_[index].source(speaker)};
  }
  /// Adds a source to the run that holds the byte.
  void add_at(std::size_t speaker, std::uint64_t byte, SourceId source) {
    runs_[index_at(byte)].add(speaker, source);
  }
  /// Calls `visit(speaker, source)` for each speaker of the current run.
  template <class Visit>
  void each(Visit visit) const {
    const auto& sources = runs_.back().sources;
    for (std::size_t speaker = 0; speaker < sources.size(); ++speaker)
      if (sources[speaker]) visit(speaker, *sources[speaker]);
  }

  /// The speaker's source in the run that holds the byte; empty if that run is forgotten.
  std::optional<SourceId> source_at(std::size_t speaker, std::uint64_t byte) const {
    return byte < runs_.front().from ? std::nullopt : runs_[index_at(byte)].source(speaker);
  }

 private:
  struct Run {
    std::uint64_t from = 0;
    std::vector<std::optional<SourceId>> sources;  // by speaker

    std::optional<SourceId> source(std::size_t speaker) const {
      return speaker < sources.size() ? sources[speaker] : std::nullopt;
    }
    void add(std::size_t speaker, SourceId source) {
      if (speaker >= sources.size()) sources.resize(speaker + 1);
      sources[speaker] = source;
    }
  };
  std::size_t index_at(std::uint64_t byte) const {
    const auto behind = std::ranges::upper_bound(runs_, byte, {}, &Run::from);
    return behind == runs_.begin() ? 0 : static_cast<std::size_t>(behind - runs_.begin() - 1);
  }
  std::deque<Run> runs_{1};
  std::uint32_t forgotten_ = 0;  // runs before the first
};

}  // namespace l4::pipeline
