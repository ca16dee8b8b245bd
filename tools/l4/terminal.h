// Standard output and standard error as commands use them.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/error.h"

namespace l4::cli {

/// Columns of the terminal; wide where the text goes elsewhere.
std::size_t width_of_output();

/// Flushes standard output. Exit status: 0; 2 with a message of `program` if it could not be
/// written; without one 141, as of a SIGPIPE, if its reader went away (`| head -1`).
int finish_output(std::string_view program);

/// Says on standard error what went wrong; returns `exit`. Names in it may be anybody's: what acts
/// on a terminal is replaced.
int fail(const Error& error, int exit, std::string_view program = "l4");

}  // namespace l4::cli
