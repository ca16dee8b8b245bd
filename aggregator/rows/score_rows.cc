#include "aggregator/rows/score_rows.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace l4::rows {
namespace {

using scores::What;

constexpr std::array kNames{std::pair{What::nodes, std::string_view("nodes")},
                            std::pair{What::ranks, std::string_view("ranks")},
                            std::pair{What::phases, std::string_view("phases")}};

std::string to_base64(const std::vector<scores::Score>& bytes) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = (group << 8U) | (j < left ? bytes[i + j] : std::uint32_t{0});
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= left ? kLetters[(group >> (18 - 6 * j)) & 63U] : '=';
  }
  return text;
}

std::string written(const scores::Row& row) {
  serve::JsonWriter text;
  text.open('{').member("node", row.node).member("rank", row.rank).key("phase");
  if (row.phase.empty())
    text.raw("null");
  else
    text.value(row.phase);
  text.member("cells", to_base64(row.cells)).close('}');
  return text.release();
}

void write_place(serve::JsonWriter& to, const scores::Matrix& matrix, std::int64_t place) {
  if (matrix.by_time)
    to.value(TimeMs{Millis{place}});
  else
    to.value(place);
}

std::string written(const scores::Course& course) {
  serve::JsonWriter text;
  text.open('{').key("phase");
  if (course.phase.empty())
    text.raw("null");
  else
    text.value(course.phase);
  text.member("mean_ms", course.mean_ms).member("most_ms", course.most_ms).close('}');
  return text.release();
}

}  // namespace

std::optional<What> what_of(std::string_view name) {
  for (const auto& [kind, known] : kNames)
    if (known == name) return kind;
  return std::nullopt;
}

std::string_view name_of(What what) {
  for (const auto& [kind, name] : kNames)
    if (kind == what) return name;
  return {};
}

void write(serve::JsonWriter& to, std::string_view job, const scores::Matrix& matrix) {
  constexpr std::size_t kEnd = 64;  // bytes behind the rows
  to.open('{').member("job", job).member("attempt", matrix.attempt);
  to.member("what", name_of(matrix.what)).member("by", matrix.by_time ? "time" : "iteration");
  to.member("step", scores::step_of(matrix.what)).key("columns").open('[');
  for (const std::int64_t begin : matrix.begins) write_place(to, matrix, begin);
  to.close(']').key("end");
  if (matrix.begins.empty())
    to.raw("null");
  else
    write_place(to, matrix, matrix.end);
  to.key("course").open('[');
  for (const scores::Course& course : matrix.course) to.raw(written(course));
  to.close(']').key("rows").open('[');
  std::size_t count = 0;
  for (; count < matrix.rows.size(); ++count) {
    const std::string row = written(matrix.rows[count]);
    if (to.size() + row.size() + kEnd > kScoreBytesMax) break;
    to.raw(row);
  }
  to.close(']').member("left_out", matrix.left_out + matrix.rows.size() - count).close('}');
}

}  // namespace l4::rows
