// One job's logs on one node: bytes in, batches out. One Drain tree, one stream of batches.
//
//   log bytes -> decoder -> Drain -> segmenter -> batch
//
// Place in the flow: `l4 diagnose` feeds it whole files, a live agent feeds it what the tailer
// reads. Offline, a batch leaves when it is full, and coverage is reported when a log ends. Live, a
// batch leaves with `flush`; for each log it holds all records up to some position and none behind
// it, and its coverage ends there. The bytes of an unfinished line, or of a record that may grow,
// are not covered yet (docs/WIRE.md). One thread; owns the Drain tree, decoders and segmenters.
// Bounds: Options and the bounds of its members; between two flushes, `full()`.
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
#include "agent/pipeline/figure_book.h"
#include "agent/pipeline/forgotten_list.h"
#include "agent/pipeline/learned_timers.h"
#include "agent/pipeline/log_state.h"
#include "agent/pipeline/nccl_cards.h"
#include "agent/pipeline/options.h"
#include "agent/pipeline/traits_table.h"
#include "agent/segment/rule_pack.h"
#include "agent/segment/segmenter.h"
#include "common/base/outline_memo.h"
#include "common/drain/template_miner.h"
#include "common/wire/batch.h"
#include "common/wire/instant.h"

namespace l4::pipeline {

class JobPipeline {
 public:
  /// `packs` and `output` must outlive the pipeline.
  JobPipeline(std::string job, const segment::RulePackSet& packs, Options options, Output& output);
  ~JobPipeline();
  JobPipeline(const JobPipeline&) = delete;
  JobPipeline& operator=(const JobPipeline&) = delete;

  /// The times are those of decode::Options.
  LogNumber open(discover::LogFile facts, std::optional<TimeMs> year_hint,
                 std::optional<TimeMs> usual_time = {});
  /// Updates the facts of a log, because more is known about its writer.
  void describe(LogNumber log, const discover::LogFile& facts);
  /// Updates the owner of a log's file.
  void set_user(LogNumber log, const std::string& user);
  /// Ends the current line; the text that follows is from this file.
  void begin_part(LogNumber log, const FilePosition& part);
  /// Ends the current line, because the part was fed completely.
  void end_part(LogNumber log) { decoder_of(at(log)).end_part(); }
  /// Updates the identity and the size of the last part's file.
  void set_known(LogNumber log, const wire::FileId& file, std::uint64_t bytes);
  void feed(LogNumber log, std::string_view bytes);
  /// Feeds a record of a log whose positions are not bytes: the positions [part.offset, to) hold
  /// `lines`. `attribution`: the rank that the record is about, if its text does not name one.
  void record(LogNumber log, const FilePosition& part, std::uint64_t to, std::string_view lines,
              const std::optional<Attribution>& attribution = {});
  /// Ends the current line and covers bytes that will not come. `lost`: a literal that says why the
  /// bytes are lost, reported with the batch that covers them; empty if nothing is lost.
  void missing(LogNumber log, const FilePosition& part, std::uint64_t to,
               std::string_view lost = {});
  /// Gives an unfinished line in its present state, because no bytes came for a while.
  void quiet(LogNumber log);
  /// Ends the log. Live, the log is forgotten once it is shipped; offline its facts stay.
  void end(LogNumber log);
  /// Number of lines of the file that were read; empty if it is not known.
  std::optional<std::uint64_t> lines_of(LogNumber log, std::uint64_t file_key) const;
  /// Forgets a log of which nothing waits to be shipped, as after restart().
  void drop(LogNumber log) { logs_.erase(log); }
  void warn(wire::Warning warning) { batch_.warnings.push_back(std::move(warning)); }
  void process(wire::ProcessFact fact) { batch_.processes.push_back(std::move(fact)); }
  /// Adds what the node's network cards did.
  void nics(const wire::NicNews& news) {
    const auto add = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(batch_.nics.definitions, news.definitions);
    add(batch_.nics.seconds, news.seconds);
    add(batch_.nics.rises, news.rises);
  }

  /// Live: which cards its ranks use, by what NCCL prints.
  const NcclCards& nccl_cards() const { return nccl_cards_; }

  /// Sets the time of arrival of everything that is fed from now on; `steady` as for flush().
  void set_arrival(const wire::Instant& now) { arrival_ = now; }
  /// Ships what is ready. `steady` never steps back. `all`: also ships records that wait for more
  /// lines; only unfinished lines are held back.
  void flush(Millis steady, bool all = false);
  /// Live: true if enough is staged for a batch, so that the caller should flush.
  bool full() const {
    return staged_ >= options_.segments_per_batch || staged_events_ >= options_.events_per_batch;
  }
  bool dirty() const;  ///< something waits for a flush
  /// When a record has waited long enough for more lines, so that a flush ships it. Only of logs
  /// from which nothing came since: in the others, the next lines end the wait.
  std::optional<Millis> due() const;

  /// Drops everything that was not shipped, because the logs will be read again from the committed
  /// offsets, each after a begin_part(). Ids keep their meaning and are defined again before use.
  void restart();

  const std::string& job() const { return job_; }
  const LogState* log(LogNumber number) const;  ///< null once it is forgotten
  const LogState& log_of(SourceId source) const {
    return *logs_.at(log_of_source_[source.value()]);
  }
  std::size_t logs() const { return logs_.size(); }
  const drain::TemplateMiner& miner() const { return miner_; }
  const std::set<std::string, std::less<>>& known_packs() const { return known_packs_; }

  /// Releases everything that recall does not need; nothing may be fed afterwards.
  void freeze();

 private:
  static constexpr std::size_t kSilentMax = 4096;

  /// Something waits that is not of a log.
  bool has_news() const {
    return !batch_.warnings.empty() || !batch_.templates.empty() || !batch_.processes.empty() ||
           !batch_.nics.empty() || !forgotten_.empty();
  }
  LogState& at(LogNumber number) { return *logs_.at(number); }
  decode::Decoder& decoder_of(LogState& log);
  void add_whole(LogNumber log, const FilePosition& part, std::uint64_t to, std::string_view lines,
                 std::string_view lost);
  void on_record(LogState& log, const decode::Record& given);
  void ingest(LogState& log, const decode::Record& record);
  void note_silent(const decode::Record& record);
  void note_reading(LogState& log);
  segment::TemplateTraits& traits_of(LocalTemplateId id, const decode::Record& record);
  segment::Segmenter& segmenter_of(LogState& log, std::size_t speaker);
  SourceId next_source(const LogState& log);
  std::unique_ptr<segment::Segmenter> make_segmenter(SourceId id,
                                                     segment::IterationLearner learner);
  void add_past(LogState& log, std::size_t speaker, const decode::Record& record,
                LocalTemplateId id);
  void define_source(LogState& log, std::size_t speaker, SourceId id, std::uint32_t run,
                     bool last_run);
  void begin_run(LogState& log, std::uint64_t from_byte);
  void finish_run(LogState& log, bool last);
  void on_segment(wire::Segment&& segment, std::span<const wire::ByteRange> where);
  void ship(LogState& log, Millis steady, bool all);
  void ship_segments(LogState& log);
  bool is_ready(LogState& log, Millis steady, bool all);
  void send();
  void define(LocalTemplateId id);
  std::string cleaned(const std::string& text);
  void define_used();
  void define_changed();
  void report_forgotten();
  void name_timers();

  std::string job_;
  const segment::RulePackSet* packs_;
  Options options_;
  Output& output_;
  decode::WordingReader wording_;
  drain::TemplateMiner miner_;
  std::map<LogNumber, std::unique_ptr<LogState>> logs_;
  std::uint32_t logs_opened_ = 0;
  std::vector<LogNumber> log_of_source_;
  std::vector<std::unique_ptr<segment::Segmenter>> segmenters_;  // by source
  FigureBook figures_;
  TraitsTable traits_;
  OutlineMemo<bool> silent_{kSilentMax};  // outlines of lines without parameters
  std::vector<wire::Parameter> probed_;
  std::set<std::string, std::less<>> known_packs_;
  NcclCards nccl_cards_;
  ForgottenList forgotten_;
  std::uint64_t by_half_ = 0;  // lines matched by half of their words, as reported so far
  wire::Batch batch_;
  std::size_t batch_events_ = 0, staged_ = 0, staged_events_ = 0;
  std::vector<const segment::Timer*> timers_;  // by the id used on the wire
  LearnedTimers learned_;
  std::vector<bool> undefined_;       // by template: used before a restart, not defined since
  std::uint32_t templates_used_ = 0;  // ids below it were used
  std::uint32_t created_ = 0;         // templates created since changes were defined
  std::span<const wire::Segment> unshipped_;  // rest of the log that is being shipped
  std::optional<wire::Instant> arrival_;
  std::string redacted_;
};

}  // namespace l4::pipeline
