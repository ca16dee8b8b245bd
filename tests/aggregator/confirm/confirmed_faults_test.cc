// Confirmed faults on disk: an answered save() or drop() survives any failure and loss of power.
#include "aggregator/confirm/confirmed_faults.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/aggregator/store/model_files.h"
#include "tests/temp_folder.h"

namespace l4::confirm {
namespace {

const store::Path kFolder = "/state/faults";

faults::Fault fault_of(const std::string& id) {
  faults::Fault fault;
  fault.id = fault.title = id;
  fault.subcategory = "program";
  fault.patterns = {"the seal of " + id + " broke"};
  fault.matches = fault.patterns;
  fault.rejects = {"the seal of " + id + " holds"};
  fault.cause = fault.fix = fault.action = "It's \"odd\" \\ here";
  fault.confirmed = faults::Confirmation{"ops", *parse_time("2026-11-20T15:54:42Z"), "job.0.1"};
  return fault;
}

TEST_CASE("confirmed faults: come back as they were") {
  store::test::ModelFiles files;
  ConfirmedFaults faults(kFolder, files);
  REQUIRE(faults.open());
  CHECK(faults.save(fault_of("b")));
  CHECK(faults.save(fault_of("a")));
  CHECK_FALSE(faults.save(fault_of("a")));
  files.power_cut();
  ConfirmedFaults again(kFolder, files);
  const auto opened = again.open();
  REQUIRE(opened);
  CHECK(opened->broken.empty());
  REQUIRE(again.size() == 2);
  CHECK(again.all()[0].id == "a");
  CHECK(again.find("b")->confirmed == fault_of("b").confirmed);
  CHECK(again.find("b")->family == "confirmed");
  CHECK(again.find("c") == nullptr);
  CHECK(again.drop("a"));
  CHECK_FALSE(again.drop("a"));
  files.power_cut();
  ConfirmedFaults last(kFolder, files);
  REQUIRE(last.open());
  CHECK(last.size() == 1);
}

TEST_CASE("confirmed faults: any one failure, with a power cut or without") {
  for (std::uint64_t n = 1; n < 10; ++n)
    for (const bool cut : {false, true}) {
      INFO("call ", n, " cut ", cut);
      store::test::ModelFiles files(n);
      ConfirmedFaults faults(kFolder, files);
      REQUIRE(faults.open());
      REQUIRE(faults.save(fault_of("first")));
      files.fail(n, 1);
      const bool saved = faults.save(fault_of("second")).has_value();
      const bool dropped = saved && faults.drop("first").has_value();
      files.heal();
      CHECK((faults.find("second") != nullptr) == saved);
      CHECK((faults.find("first") == nullptr) == dropped);
      if (cut) files.power_cut();
      ConfirmedFaults again(kFolder, files);
      const auto opened = again.open();
      REQUIRE(opened);
      CHECK(opened->broken.empty());  // nothing is half-written
      if (saved) CHECK(again.find("second") != nullptr);
      if (!saved && !cut) CHECK(again.find("second") == nullptr);
      if (!saved) CHECK(again.find("first") != nullptr);
      if (dropped) CHECK(again.find("first") == nullptr);
    }
}

TEST_CASE("confirmed faults: a full disk, and one that comes back") {
  store::test::ModelFiles files;
  ConfirmedFaults faults(kFolder, files);
  REQUIRE(faults.open());
  files.set_room(10);
  CHECK_FALSE(faults.save(fault_of("a")));
  CHECK(files.list(kFolder)->empty());
  files.set_room(1 << 20);
  CHECK(faults.save(fault_of("a")));
}

TEST_CASE("confirmed faults: broken files are told and passed over") {
  const test::TempFolder folder;
  const auto path = folder.path() / "faults";
  ConfirmedFaults faults(path, store::system_files());
  REQUIRE(faults.open());
  REQUIRE(faults.save(fault_of("good")));
  const std::string good = [&] {
    std::ifstream file(path / "good.toml");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  folder.file("faults/a.toml", with("id = 'good'", "id = 'b'"));
  folder.file("faults/b.toml", with("scope = ", "scoop = "));
  folder.file("faults/c.toml", good.substr(0, good.size() / 2));
  folder.file("faults/d.toml", with("confirmed = ", "unless = ['x'] #"));
  folder.file("faults/e.toml", good + good);
  folder.file("faults/f.toml", std::string(ConfirmedFaults::kFileBytesMax + 1, '#'));
  folder.file("faults/g.toml", "");
  folder.file("faults/note.txt", "nothing of it is read");
  folder.file("faults/h.toml.unfinished", good.substr(0, 20));
  ConfirmedFaults again(path, store::system_files());
  const auto opened = again.open();
  REQUIRE(opened);
  CHECK(again.size() == 1);
  REQUIRE(opened->broken.size() == 7);
  const auto said = [&](std::size_t i) { return opened->broken[i].text(); };
  CHECK(said(0).find("a.toml: holds the fault b") != std::string::npos);
  CHECK(said(1).find("b.toml:1: scope: missing") != std::string::npos);
  CHECK(said(2).find("c.toml:") != std::string::npos);
  CHECK(said(3).find("d.toml: confirmed: missing") != std::string::npos);
  CHECK(said(4).find("e.toml: holds more than one") != std::string::npos);
  CHECK(said(5).find("f.toml: 65537 bytes") != std::string::npos);
  CHECK(said(6).find("g.toml") != std::string::npos);
  CHECK(again.is_taken("b"));
  CHECK_FALSE(again.is_taken("h"));
  CHECK_FALSE(again.save(fault_of("b")));
  CHECK_FALSE(std::filesystem::exists(path / "h.toml.unfinished"));
  CHECK(std::filesystem::exists(path / "note.txt"));
}

}  // namespace
}  // namespace l4::confirm
