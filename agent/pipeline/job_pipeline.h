// One job's logs on one node: bytes in, batches out. One Drain tree, one stream of batches.
//
//   log bytes -> decoder -> Drain -> segmenter -> batch
//
// Place in the flow: `l4 diagnose` feeds it files from begin to end, a live agent what the tailer
// gives. Offline, batches leave as they fill, and say what they cover when a log is over. Live, a
// batch leaves with `flush`, and holds for each log all records up to some place and none behind
// it, and says so: the bytes of a line that is not finished, or of a record that may go on, are not
// covered yet (docs/WIRE.md). One thread; owns tree, decoders and segmenters. Bounds: Options, and
// those of its parts; between two flushes what `full()` says.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/wording.h"
#include "agent/pipeline/forgotten_list.h"
#include "agent/pipeline/log.h"
#include "agent/pipeline/options.h"
#include "agent/pipeline/traits_table.h"
#include "agent/segment/rule_pack.h"
#include "agent/segment/segmenter.h"
#include "common/base/outline_memo.h"
#include "common/drain/template_miner.h"
#include "common/wire/batch.h"

namespace l4::pipeline {

class JobPipeline {
 public:
  /// `packs` and `output` must outlive the pipeline.
  JobPipeline(std::string job, const segment::RulePackSet& packs, Options options, Output& output);
  ~JobPipeline();
  JobPipeline(const JobPipeline&) = delete;
  JobPipeline& operator=(const JobPipeline&) = delete;

  LogNumber open(discover::LogFile facts, std::optional<TimeMs> year_hint);
  void describe(LogNumber log, const discover::LogFile& facts);  ///< more is known of the writer
  /// Ends the line: what follows is of this file.
  void part(LogNumber log, const Part& part);
  /// What was fed is all of the part: ends the line.
  void end_part(LogNumber log) { decoder_of(at(log)).end_part(); }
  /// What is known by now of the last part: which file it is, and its size.
  void known(LogNumber log, const wire::FileId& file, std::uint64_t bytes);
  void feed(LogNumber log, std::string_view bytes);
  /// A record of a log whose positions are no bytes: [part.offset, to) of it say `lines`, which
  /// may be somebody's.
  void record(LogNumber log, const Part& part, std::uint64_t to, std::string_view lines,
              const std::optional<Whose>& whose = {});
  /// These bytes will not come, and count as read; ends the line. `lost`: why somebody misses them
  /// (a literal), told with the batch that covers them; empty: nobody does.
  void missing(LogNumber log, const Part& part, std::uint64_t to, std::string_view lost = {});
  /// Nothing came for a while: an unfinished line is all of it for now.
  void quiet(LogNumber log);
  /// The log is over. Live it is forgotten when it is shipped, else its facts stay.
  void end(LogNumber log);
  /// Lines of the file that were read; none if that is not known.
  std::optional<std::uint64_t> lines_of(LogNumber log, std::uint64_t file_key) const;
  /// Forgets a log of which nothing is under way, as after restart().
  void drop(LogNumber log) { logs_.erase(log); }
  void warn(wire::Warning warning) { batch_.warnings.push_back(std::move(warning)); }
  void process(wire::ProcessFact fact) { batch_.processes.push_back(std::move(fact)); }

  /// When what is fed from now on arrived.
  void arrives(TimeMs now) { arrival_ = now; }
  /// Ships what is ready. `steady` never steps back. `all`: nothing is held back but unfinished
  /// lines; for the end.
  void flush(Millis steady, bool all = false);
  /// Live: enough is staged for a batch; flush soon, or it grows.
  bool full() const {
    return staged_ >= options_.segments_per_batch || staged_events_ >= options_.events_per_batch;
  }
  bool dirty() const;  ///< something waits for a flush

  /// Templates that the receiver does not know go into the next batch.
  void define_again(const std::vector<LocalTemplateId>& ids);
  /// Nothing of what was shipped is kept: all logs are read again from what is committed, by `part`
  /// with the offset. Ids keep their meaning, all is defined again before it is used.
  void restart();

  const std::string& job() const { return job_; }
  const Log* log(LogNumber number) const;  ///< null once it is forgotten
  const Log& log_of(SourceId source) const { return *logs_.at(log_of_source_[source.value()]); }
  std::size_t logs() const { return logs_.size(); }
  const drain::TemplateMiner& miner() const { return miner_; }
  const std::set<std::string, std::less<>>& known_packs() const { return known_packs_; }

  /// Nothing more will be fed: lets go of what recall does not need.
  void freeze();

 private:
  static constexpr std::size_t kSilentMax = 4096;

  Log& at(LogNumber number) { return *logs_.at(number); }
  decode::Decoder& decoder_of(Log& log);
  void whole(LogNumber log, const Part& part, std::uint64_t to, std::string_view lines,
             std::string_view lost);
  void on_record(Log& log, const decode::Record& given);
  void take(Log& log, const decode::Record& record);
  void note_silent(const decode::Record& record);
  segment::TemplateTraits& traits_of(LocalTemplateId id, const decode::Record& record);
  segment::Segmenter& segmenter_of(Log& log, std::size_t speaker);
  void define_source(Log& log, std::size_t speaker, SourceId id, bool last_run);
  void begin_run(Log& log, std::uint64_t from_byte);
  void finish_run(Log& log, bool last);
  void on_segment(wire::Segment&& segment, std::span<const wire::ByteRange> where);
  void ship(Log& log, Millis steady, bool all);
  void ship_segments(Log& log);
  bool settled(Log& log, Millis steady, bool all);
  void send();
  void define(LocalTemplateId id);
  void define_used();
  void define_changed();
  void take_forgotten();
  void name_timers();

  std::string job_;
  const segment::RulePackSet* packs_;
  Options options_;
  Output& output_;
  decode::WordingReader looks_;
  drain::TemplateMiner miner_;
  std::map<LogNumber, std::unique_ptr<Log>> logs_;
  std::uint32_t logs_opened_ = 0;
  std::vector<LogNumber> log_of_source_;
  std::vector<std::unique_ptr<segment::Segmenter>> segmenters_;  // by source
  TraitsTable traits_;
  OutlineMemo<bool> silent_{kSilentMax};  // lines that have no parameters
  std::vector<wire::Parameter> probed_;
  std::set<std::string, std::less<>> known_packs_;
  ForgottenList forgotten_;
  std::uint64_t by_half_ = 0;  // of the lines, as told
  wire::Batch batch_;
  std::size_t batch_events_ = 0, staged_ = 0, staged_events_ = 0;
  std::vector<const segment::Timer*> timers_;  // by the id used on the wire
  std::vector<bool> undefined_;  // by template: used before the restart, and not told since
  std::uint32_t templates_used_ = 0, created_ = 0;  // ids; new since changes were told
  std::span<const wire::Segment> under_way_;        // of a log that is being shipped
  std::optional<TimeMs> arrival_;
  std::string redacted_;
};

}  // namespace l4::pipeline
