#include "common/drain/frame_set.h"
#include "common/drain/template_miner.h"

namespace l4::drain {

bool similar(std::string_view text_a, std::string_view text_b) {
  return text_a == text_b || FrameSet::one_class(row_of_text(text_a), row_of_text(text_b));
}

}  // namespace l4::drain
