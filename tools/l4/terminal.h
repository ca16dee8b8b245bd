// Standard output as commands use it.
#pragma once

#include <cstddef>

namespace l4::cli {

/// Columns of the terminal; wide where the text goes elsewhere.
std::size_t width_of_output();

/// Flushes standard output. Exit status: 0, or 2 with a message of `program` if it could not be
/// written.
int finish_output(const char* program);

}  // namespace l4::cli
