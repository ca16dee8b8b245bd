// Checks of invariants: L4_CHECK(condition, "sentence with {}", values...).
//
// A condition that does not hold is a bug of this program: the check prints file, line, condition
// and the sentence with its values to stderr and aborts. Input never breaks an invariant: bad input
// is counted and skipped, and a failure is a `Result`. A condition that holds costs one branch;
// the text is made out of line. Any thread; no allocation before the condition has failed.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace l4 {

/// One value of a failed check: an integer, a floating-point number, a bool, a text, an enum (its
/// number), a strong id, a duration or a point in time (their counts).
class CheckValue {
 public:
  enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, real, text };

  template <class T>
  CheckValue(const T& value) {  // implicit: values are listed in braces
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::boolean;
      unsigned_ = value ? 1 : 0;
    } else if constexpr (std::is_enum_v<T>) {
      *this = CheckValue(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::signed_integral<T>) {
      signed_ = value;
    } else if constexpr (std::unsigned_integral<T>) {
      kind_ = Kind::unsigned_integer;
      unsigned_ = value;
    } else if constexpr (std::floating_point<T>) {
      kind_ = Kind::real;
      real_ = static_cast<double>(value);
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      kind_ = Kind::text;
      text_ = value;
    } else if constexpr (requires { value.time_since_epoch(); }) {
      *this = CheckValue(value.time_since_epoch().count());
    } else if constexpr (requires { value.count(); }) {
      *this = CheckValue(value.count());
    } else {
      *this = CheckValue(value.value());
    }
  }

  Kind kind() const { return kind_; }
  std::int64_t signed_integer() const { return signed_; }
  std::uint64_t unsigned_integer() const { return unsigned_; }
  double real() const { return real_; }
  std::string_view text() const { return text_; }

 private:
  Kind kind_ = Kind::signed_integer;
  std::int64_t signed_ = 0;
  std::uint64_t unsigned_ = 0;
  double real_ = 0;
  std::string_view text_;
};

/// Each `{}` of the sentence becomes the next value; values without one are added at the end.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view sentence, std::initializer_list<CheckValue> values);

}  // namespace l4

#define L4_CHECK(condition, sentence, ...)           \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::l4::check_failed(__FILE__, __LINE__, #condition, sentence, {__VA_ARGS__}))
