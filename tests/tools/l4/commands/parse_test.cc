#include "tools/l4/commands/parse.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace l4::commands {
namespace {

/// A folder that lives as long as the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / ("l4_parse_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  std::filesystem::path at(const std::string& name) const { return path_ / name; }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
};

std::string id_of(const std::string& message) {
  return to_string(TemplateId(drain::skeleton_of(message).value()));
}

TEST_CASE("every line gives a row, empty ones and an unfinished one too") {
  const Folder folder;
  const auto input = folder.write("in.log", "step 1 done\n\nstep 2 done\r\nother words");
  std::ostringstream err;
  CHECK(run_parse({{input}, folder.at("out.tsv"), folder.at("templates.tsv")}, err) == 0);
  CHECK(err.str().empty());
  const std::string step = id_of("step 9 done");
  CHECK(folder.read("out.tsv") == "1\t" + step + "\n2\t" + id_of("") + "\n3\t" + step + "\n4\t" +
                                      id_of("other words") + "\n");
  CHECK(folder.read("templates.tsv").find(step + "\t2\tstep <*> done\n") != std::string::npos);
}

TEST_CASE("ids are final: a line that was generalised later has the id of its class") {
  const Folder folder;
  std::string text;
  for (const char* word : {"ant", "bee", "cat", "dog", "elk", "ant"}) {
    text += "found animal called " + std::string(word) + "\n";
  }
  const auto input = folder.write("in.log", text);
  std::ostringstream err;
  CHECK(run_parse({{input}, folder.at("out.tsv"), {}}, err) == 0);
  std::istringstream rows(folder.read("out.tsv"));
  std::string first, row;
  std::getline(rows, first);
  while (std::getline(rows, row))
    CHECK(row.substr(row.find('\t')) == first.substr(first.find('\t')));
}

TEST_CASE("lines of several files are numbered on") {
  const Folder folder;
  const auto a = folder.write("a.log", "one line\n");
  const auto b = folder.write("b.log", "one line\n");
  std::ostringstream err;
  CHECK(run_parse({{a, b}, folder.at("out.tsv"), {}}, err) == 0);
  CHECK(folder.read("out.tsv") == "1\t" + id_of("one line") + "\n2\t" + id_of("one line") + "\n");
}

TEST_CASE("what cannot be read is named") {
  const Folder folder;
  std::ostringstream err;
  CHECK(run_parse({{folder.at("gone.log")}, folder.at("out.tsv"), {}}, err) == 3);
  CHECK(err.str().find("gone.log") != std::string::npos);
  const auto good = folder.write("good.log", "x\n");
  err.str("");
  CHECK(run_parse({{folder.at("gone.log"), good}, folder.at("out.tsv"), {}}, err) == 0);
  CHECK(err.str().find("gone.log") != std::string::npos);
  CHECK(run_parse({{good.parent_path()}, folder.at("out.tsv"), {}}, err) == 3);
  CHECK(run_parse({{}, {}, {}}, err) == 2);
  CHECK(run_parse({{good}, folder.at("no/such/out.tsv"), {}}, err) == 2);
}

}  // namespace
}  // namespace l4::commands
