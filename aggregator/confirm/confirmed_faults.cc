#include "aggregator/confirm/confirmed_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/faults/fault_toml.h"
#include "aggregator/faults/library_reader.h"
#include "common/base/check.h"

namespace l4::confirm {
namespace {

constexpr std::string_view kEnd = ".toml", kUnfinished = ".unfinished";

}  // namespace

Result<ConfirmedFaults::Opened> ConfirmedFaults::open() {
  if (auto made = make_folder(); !made) return std::unexpected(made.error());
  const auto names = files_->list(folder_);
  if (!names) return std::unexpected(names.error());
  Opened opened;
  for (const std::string& name : *names) {
    if (name.ends_with(kUnfinished)) static_cast<void>(files_->remove(folder_ / name));
    if (!name.ends_with(kEnd)) continue;
    auto fault = faults_.size() < kFaultsMax
                     ? read(name)
                     : std::unexpected(Error{(folder_ / name).string(),
                                             fmt::format("is one of more than {}", kFaultsMax)});
    if (fault) {
      faults_.insert_or_assign(fault->id, std::move(*fault));
    } else {
      opened.broken.push_back(fault.error());
      broken_.push_back(name);
    }
  }
  return opened;
}

/// The name of the folder must be durable, too.
Result<void> ConfirmedFaults::make_folder() {
  if (auto made = files_->make_folder(folder_); !made) return made;
  return files_->sync_folder(folder_.parent_path());
}

Result<faults::Fault> ConfirmedFaults::read(const std::string& name) {
  const store::Path path = folder_ / name;
  const auto bytes = store::read_whole(*files_, path, kFileBytesMax);
  if (!bytes) return std::unexpected(bytes.error());
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  auto entries = faults::read_text(text, path);
  if (!entries) return std::unexpected(entries.error());
  const auto wrong = [&](std::string reason) {
    return std::unexpected(Error{path.string(), std::move(reason)});
  };
  if (entries->size() != 1) return wrong("holds more than one fault");
  faults::Fault& fault = entries->front();
  if (!fault.confirmed) return wrong("confirmed: missing: who confirmed it, when, which incident");
  if (fault.id + std::string(kEnd) != name)
    return wrong(fmt::format("holds the fault {}, whose file is {}{}", fault.id, fault.id, kEnd));
  fault.family = "confirmed";
  return std::move(fault);
}

Result<void> ConfirmedFaults::write(const store::Path& path, const std::string& text) {
  auto file = files_->create(path);
  if (!file) return std::unexpected(file.error());
  if (auto done = (*file)->append(std::as_bytes(std::span(text))); !done) return done;
  return (*file)->sync();
}

Result<void> ConfirmedFaults::save(const faults::Fault& fault) {
  const store::Path path = folder_ / (fault.id + std::string(kEnd));
  if (is_taken(fault.id)) return std::unexpected(Error{path.string(), "is there already"});
  if (faults_.size() >= kFaultsMax)
    return std::unexpected(
        Error{folder_.string(), fmt::format("holds {} faults, which is the most", kFaultsMax)});
  const std::string text = faults::to_toml(fault);
  if (text.size() > kFileBytesMax)
    return std::unexpected(Error{path.string(), fmt::format("would have {} bytes, at most {} are "
                                                            "read",
                                                            text.size(), kFileBytesMax)});
  const store::Path unfinished = store::Path(path) += kUnfinished;
  auto done = make_folder();  // the folder may have been removed
  if (done) done = write(unfinished, text);
  if (done) done = files_->rename(unfinished, path);
  if (!done) {
    static_cast<void>(files_->remove(unfinished));
    return done;
  }
  if (done = files_->sync_folder(folder_); !done) {
    static_cast<void>(files_->remove(path));
    return done;
  }
  faults::Fault kept = fault;
  kept.family = "confirmed";
  faults_.insert_or_assign(fault.id, std::move(kept));
  return {};
}

Result<void> ConfirmedFaults::drop(const std::string& id) {
  const auto found = faults_.find(id);
  if (found == faults_.end())
    return std::unexpected(Error{folder_.string(), "holds no fault " + id});
  L4_CHECK(found->second.confirmed, "fault {} has no confirmation", id);
  auto done = files_->remove(folder_ / (id + std::string(kEnd)));
  if (done) done = files_->sync_folder(folder_);
  if (!done) return done;
  faults_.erase(found);
  return {};
}

std::vector<faults::Fault> ConfirmedFaults::all() const {
  std::vector<faults::Fault> all;
  all.reserve(faults_.size());
  for (const auto& [id, fault] : faults_) all.push_back(fault);
  return all;
}

const faults::Fault* ConfirmedFaults::find(std::string_view id) const {
  const auto found = faults_.find(id);
  return found == faults_.end() ? nullptr : &found->second;
}

bool ConfirmedFaults::is_taken(const std::string& id) const {
  return faults_.contains(id) ||
         std::ranges::find(broken_, id + std::string(kEnd)) != broken_.end();
}

}  // namespace l4::confirm
