#include "tools/l4/replay/moved_text.h"

#include <algorithm>

namespace l4::replay {

std::chrono::year_month_day day_of(const Place& place) {
  return {std::chrono::year{place.year}, std::chrono::January, std::chrono::day{1}};
}

void MovedText::append(std::uint64_t from, std::uint64_t to, std::chrono::seconds shift,
                       std::string& out) const {
  auto place = std::ranges::upper_bound(places_, from, {}, &Place::at);
  if (place != places_.begin()) {
    const Place& before = *(place - 1);
    if (before.at + (*forms_)[before.form].size() > from) --place;  // `from` is within it
  }
  std::string moved;
  for (; place != places_.end() && place->at < to; ++place) {
    const StampForm& form = (*forms_)[place->form];
    const std::uint64_t end = place->at + form.size();
    if (place->at > from) out.append(text_.substr(from, place->at - from));
    moved.clear();
    form.write(text_.substr(place->at, form.size()), day_of(*place), shift, moved);
    const std::uint64_t skip = from > place->at ? from - place->at : 0;
    const std::uint64_t stop = to < end ? to - place->at : moved.size();
    const std::uint64_t begin = std::min<std::uint64_t>(skip, moved.size());
    const std::uint64_t finish = std::min<std::uint64_t>(stop, moved.size());
    out.append(moved, begin, finish - begin);
    from = std::min(end, to);
  }
  if (from < to) out.append(text_.substr(from, to - from));
}

}  // namespace l4::replay
