// Standard output and standard error as commands use them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "aggregator/serve/report_text.h"
#include "common/base/error.h"

namespace l4::terminal {

/// Columns of the terminal; wide where the text goes elsewhere.
std::size_t width_of_output();

/// Flushes standard output. Exit status: 0; 2 with a message of `program` if it could not be
/// written; 141, as after a SIGPIPE, and no message if its reader went away (`| head -1`).
int finish_output(std::string_view program);

/// True where standard output is a terminal and NO_COLOR is not set.
bool is_color_wanted();

/// Colour and width as standard output wants them.
serve::TextStyle style_of_output();

/// Writes all of `text` into `file`, or to standard output if that is empty. Exit status as above;
/// 2 with a message if the file cannot be written.
int write_text(const std::string& text, const std::filesystem::path& file,
               std::string_view program);

/// Writes all of `text` into `file`, or leaves what stood there: it is written beside and takes its
/// place when it is complete. What is no regular file (a pipe) is written as it is. Exit status: 0;
/// 2 with a message that names `file`.
int write_whole(const std::string& text, const std::filesystem::path& file,
                std::string_view program);

/// Error: the folder of an output file is missing or cannot be written. `option` names the file in
/// the message; an empty `file` is never an error.
Result<void> check_writable(const char* option, const std::filesystem::path& file);

/// Prints the error to standard error and returns `exit`. Names in it may be hostile: control
/// characters are replaced.
int fail(const Error& error, int exit, std::string_view program = "l4");

}  // namespace l4::terminal
