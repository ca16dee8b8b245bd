#include "agent/ship/fit.h"

#include <iterator>
#include <utility>

#include "common/wire/codec/batch_codec.h"

namespace l4::ship {
namespace {

using wire::Batch;

/// A batch of the same agent, job and incarnation with nothing in it.
Batch empty_like(const Batch& batch) {
  Batch empty;
  empty.agent = batch.agent;
  empty.job = batch.job;
  empty.incarnation = batch.incarnation;
  return empty;
}

/// The second half of `from` becomes the end of `to`'s list; false if there is nothing to halve.
template <class T>
bool halve(std::vector<T>& from, std::vector<T>& to) {
  if (from.size() < 2) return false;
  const auto middle = from.begin() + static_cast<std::ptrdiff_t>(from.size() / 2);
  to.assign(std::make_move_iterator(middle), std::make_move_iterator(from.end()));
  from.erase(middle, from.end());
  return true;
}

class Fitter {
 public:
  Fitter(std::size_t bytes_max, std::uint64_t next_sequence, ShedCounts& counts)
      : bytes_max_(bytes_max), next_sequence_(next_sequence), counts_(counts) {}

  void whole(Batch batch) {
    if (try_add(batch)) return;
    Batch definitions = empty_like(batch);
    definitions.sources = std::exchange(batch.sources, {});
    definitions.templates = std::exchange(batch.templates, {});
    definitions.timers = std::exchange(batch.timers, {});
    definitions.processes = std::exchange(batch.processes, {});
    definitions.nics = std::exchange(batch.nics, {});
    if (!definitions.sources.empty() || !definitions.templates.empty() ||
        !definitions.timers.empty() || !definitions.processes.empty() || !definitions.nics.empty())
      split(std::move(definitions));
    bool less = false;
    for (const auto step :
         {wire::Shedding::order, wire::Shedding::parameters, wire::Shedding::counts}) {
      if (try_add(batch)) return;
      const bool now_less = shed(batch, step, ShedFor::size, counts_);
      if (now_less && !std::exchange(less, true)) ++counts_.batches;
    }
    if (try_add(batch)) return;
    if (!less && !batch.segments.empty()) ++counts_.batches;
    counts_.segments += batch.segments.size();
    batch.segments.clear();
    split(std::move(batch));
  }

  std::vector<Fitted> finish() { return std::move(done_); }

 private:
  bool try_add(Batch& batch) {
    batch.sequence = next_sequence_;
    wire::Bytes encoded = wire::encode(batch);
    if (encoded.size() > bytes_max_) return false;
    ++next_sequence_;
    done_.push_back({std::move(batch), std::move(encoded)});
    return true;
  }

  /// Splits lists of definitions, or coverage without segments; nothing else may be split.
  void split(Batch batch) {
    if (try_add(batch)) return;
    Batch rest = empty_like(batch);
    bool halved = false;
    halved |= halve(batch.templates, rest.templates);
    halved |= halve(batch.sources, rest.sources);
    halved |= halve(batch.timers, rest.timers);
    halved |= halve(batch.processes, rest.processes);
    halved |= halve(batch.nics.seconds, rest.nics.seconds);
    halved |= halve(batch.nics.rises, rest.nics.rises);
    halved |= halve(batch.coverage, rest.coverage);
    halved |= halve(batch.warnings, rest.warnings);
    halved |= halve(batch.forgotten, rest.forgotten);
    if (!halved) return;  // no single element is longer than a message
    split(std::move(batch));
    split(std::move(rest));
  }

  std::size_t bytes_max_;
  std::uint64_t next_sequence_;
  ShedCounts& counts_;
  std::vector<Fitted> done_;
};

}  // namespace

std::vector<Fitted> fit(Batch batch, std::size_t bytes_max, std::uint64_t next_sequence,
                        ShedCounts& counts) {
  Fitter fitter(bytes_max, next_sequence, counts);
  fitter.whole(std::move(batch));
  return fitter.finish();
}

}  // namespace l4::ship
