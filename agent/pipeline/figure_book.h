// The numbers that the sources of a job print, as windows that wait to be shipped.
//
// Place in the flow: JobPipeline passes the records of templates that print such numbers, and takes
// the windows with the source's segments. Owned by JobPipeline, one thread. Bounded by the sources
// that print numbers; segment::FigureSeries bounds each.
#pragma once

#include <memory>
#include <vector>

#include "agent/decode/record.h"
#include "agent/segment/figure_series.h"
#include "agent/segment/segmenter.h"
#include "agent/segment/template_traits.h"

namespace l4::pipeline {

class FigureBook {
 public:
  /// `own`: the segmenter of the record's source, which has added the record.
  void add(const decode::Record& record, const segment::TemplateTraits& known,
           const segment::Segmenter& own) {
    const std::size_t source = own.source().value();
    for (const segment::Figure& figure : known.figures) {
      const auto value = segment::read_figure(record.text, figure, record.outline);
      if (!value) continue;
      if (source >= series_.size()) series_.resize(source + 1);
      if (!series_[source]) series_[source] = std::make_unique<segment::FigureSeries>(own.source());
      series_[source]->add(figure.kind, figure.name, own.iteration(), *value);
    }
  }
  /// `all`: the source ends, or its run; else only what is worth shipping now.
  void release(SourceId source, bool all, std::vector<wire::FigureWindow>& out) {
    if (source.value() >= series_.size() || !series_[source.value()]) return;
    series_[source.value()]->release(out, all);
    if (all) series_[source.value()].reset();
  }
  void clear() { series_.clear(); }

 private:
  std::vector<std::unique_ptr<segment::FigureSeries>> series_;  // by source; null: it prints none
};

}  // namespace l4::pipeline
