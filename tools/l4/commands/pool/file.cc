#include "tools/l4/commands/pool/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "aggregator/pool/run_json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::pool {
namespace {

namespace fs = std::filesystem;

Error unwritable(const fs::path& file) {
  return {file.string(), std::string("cannot be written: ") + std::strerror(errno)};
}

}  // namespace

Result<std::unique_ptr<PoolFile>> PoolFile::open(const fs::path& path) {
  auto file = std::make_unique<PoolFile>();
  file->named_ = file->kept_ = path;
  if (path == "-") {
    auto folder = offline::TempFolder::make();
    if (!folder) return std::unexpected(folder.error());
    file->folder_ = std::move(*folder);
    file->kept_ = file->folder_->path() / "runs.json";
    std::ofstream kept(file->kept_, std::ios::binary);
    if (std::cin.peek() != std::istream::traits_type::eof()) kept << std::cin.rdbuf();
    kept.close();
    if (!kept) return std::unexpected(unwritable(file->kept_));
  }
  std::error_code ignored;
  if (!std::ifstream(file->kept_) || fs::is_directory(file->kept_, ignored))
    return std::unexpected(Error{path.string(), "cannot be read"});
  return file;
}

Result<void> PoolFile::each(const std::function<Result<void>(const l4::pool::Run&)>& visit) const {
  std::ifstream in(kept_, std::ios::binary);
  auto done = l4::pool::each_run(in, visit);
  if (done) return done;
  Error error = done.error();
  error.where = named_.string() + (error.where.empty() ? "" : ": " + error.where);
  return std::unexpected(error);
}

PoolWriter::PoolWriter(fs::path file) : file_(std::move(file)) {
  if (file_.empty()) return;
  // A device or a link is written to, not replaced by a new file.
  std::error_code ignored;
  const fs::file_status there = fs::symlink_status(file_, ignored);
  if (!fs::exists(there) || fs::is_regular_file(there)) part_ = file_.string() + ".part";
  errno = 0;
  out_.open(part_.empty() ? file_ : part_, std::ios::binary);
}

PoolWriter::~PoolWriter() {
  std::error_code ignored;
  if (!part_.empty()) fs::remove(part_, ignored);
}

void PoolWriter::append(const l4::pool::Run& run) {
  serve::JsonWriter text;
  l4::pool::write(text, run, true);
  std::ostream& to = file_.empty() ? std::cout : out_;
  to << (std::exchange(is_first_, false)
             ? fmt::format("{{\"schema\": \"{}\", \"runs\": [", l4::pool::kSchema)
             : ",\n")
     << text.release();
}

int PoolWriter::end(std::string_view program) {
  std::ostream& to = file_.empty() ? std::cout : out_;
  if (is_first_) to << fmt::format("{{\"schema\": \"{}\", \"runs\": [", l4::pool::kSchema);
  to << "]}\n";
  if (file_.empty()) return terminal::finish_output(program);
  out_.close();
  std::error_code wrong;
  if (out_ && !part_.empty()) fs::rename(part_, file_, wrong);
  if (wrong) errno = wrong.value();
  return out_ && !wrong ? terminal::kDone
                        : terminal::fail(unwritable(file_), terminal::kWrongUse, program);
}

}  // namespace l4::commands::pool
