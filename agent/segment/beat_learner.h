// Finds the line with which each iteration of a source begins where no line prints its number.
//
// Place in the flow: the segmenter shows it each record of a template that prints times. Such lines
// come in turn, once in an iteration: the first one between whose records another comes equally
// often each time is the beat. A line that comes by the clock is none. The beats are numbered by
// the records of that template from the source's begin on, so that the same beat has the same
// number on all ranks. A source that prints iteration numbers has beats, too: they tell which beat
// belongs to which number. One per source, one thread. Bound: kTemplatesMax templates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/ids.h"

namespace l4::segment {

class BeatLearner {
 public:
  /// True if the record begins a beat.
  bool observe(LocalTemplateId id);
  /// Number of the beat, from 1; 0 while no beat is known.
  std::uint32_t number() const { return beat_ ? number_ : 0; }
  /// Grows whenever a line is no longer the beat: the rounds of another begin elsewhere.
  std::uint16_t changes() const { return changes_; }

 private:
  static constexpr std::size_t kTemplatesMax = 8;
  /// How often another template came between two records of one.
  struct Between {
    std::uint8_t now = 0, usual = 0, alike = 0;  ///< alike: so often in a row
  };
  struct Watched {
    LocalTemplateId id;
    std::uint32_t seen = 0;
    std::array<Between, kTemplatesMax> others{};
  };

  void drop_beat();
  std::optional<std::size_t> place_of(LocalTemplateId id);
  bool alternate(std::size_t one, std::size_t other, std::uint8_t turns) const;
  bool keeps_pace(std::size_t place) const;
  bool is_apart(std::size_t place) const;

  std::array<Watched, kTemplatesMax> watched_{};
  std::size_t size_ = 0;
  std::size_t oldest_ = kTemplatesMax - 1;  ///< where the search for room begins, less one
  std::optional<std::size_t> beat_;
  std::uint32_t number_ = 0;
  std::uint16_t changes_ = 0;
  std::uint8_t strays_ = 0;  ///< beats in a row with which nothing kept pace
  std::uint8_t quiet_ = 0;   ///< records of other templates since the last beat
};

}  // namespace l4::segment
