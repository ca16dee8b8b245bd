// Seams: the places in a line where the text of another writer begins.
//
// Processes that share a file write a line and its end apart, so one line may hold the lines of
// several, and their ends follow as blank lines. A seam is a place where something that begins
// lines (a time stamp, a tag of a rank, the head of a traceback, an error of a program that it
// names itself, a progress bar) stands directly behind text. The decoder decodes each piece as a
// line of its own. Pure functions over one line; only lines with a sign that may be a seam's get
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace l4::decode {

/// Colons before this column show no seam: the stamp and the tags of the line itself stand there.
inline constexpr std::size_t kSeamColumn = 24;

/// The seam that the colon at `colon` shows: the first byte of the second writer's text. npos:
/// none.
std::size_t seam_at(std::string_view text, std::size_t colon);

/// True if the text begins with the tag of a rank, `[rank3]:`, `[1,3]<stderr>:`.
bool begins_with_tag(std::string_view text);

/// The first seam at which a program reports an error, `srun: error: `; npos: none. Nothing marks
/// such a seam beforehand, so it is looked for in lines that tell of an error.
std::size_t report_seam(std::string_view text);

/// Appends the seams of `text`, ascending.
void find_seams(std::string_view text, std::vector<std::size_t>& seams);

/// True if `text` may end with the head of a traceback that stands behind other text.
inline bool may_end_glued(std::string_view text) {
  return !text.empty() && text.back() == ':' && text.ends_with(" call last):") &&
         text.front() != 'T';
}

}  // namespace l4::decode
