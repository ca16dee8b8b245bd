#include "aggregator/serve/report_texts.h"

#include <optional>
#include <string_view>
#include <vector>

#include "aggregator/serve/report_fields.h"

namespace l4::serve {
namespace {

class TextVisitor {
 public:
  explicit TextVisitor(const std::function<void(std::string&)>& change) : change_(change) {}

  template <class T>
  void operator()(std::string_view /*key*/, T& value) {
    visit(value);
  }
  void schema(std::string_view /*key*/) {}
  template <class T>
  void new_field(std::string_view /*key*/, T& value) {
    visit(value);
  }

  template <class T>
  void optional_field(std::string_view /*key*/, T& value) {
    visit(value);
  }

  template <class T>
  void visit(T& value) {
    if constexpr (requires { fields(*this, value); }) fields(*this, value);
  }
  void visit(std::string& text) { change_(text); }
  template <class T>
  void visit(std::optional<T>& maybe) {
    if (maybe) visit(*maybe);
  }
  template <class T>
  void visit(std::vector<T>& list) {
    for (T& one : list) visit(one);
  }

 private:
  const std::function<void(std::string&)>& change_;
};

}  // namespace

void change_texts(diagnose::Report& report, const std::function<void(std::string&)>& change) {
  TextVisitor(change).visit(report);
}

}  // namespace l4::serve
