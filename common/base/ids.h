// Strong identifiers: a rank is not an int and a template is not a hash.
//
// Flow: every room uses these; they depend on nothing. Value types, no ownership, no locks.
// `Named<Tag, T>` compares, orders and hashes like T and converts only where asked (`.value()`).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace l4 {

template <class Tag, class T>
class Named {
 public:
  using value_type = T;
  constexpr Named() = default;
  constexpr explicit Named(T value) : value_(value) {}
  constexpr T value() const { return value_; }
  constexpr auto operator<=>(const Named&) const = default;

 private:
  T value_{};
};

/// Global rank of a training process, 0-based.
using Rank = Named<struct RankTag, std::int32_t>;
/// Iteration (training step) as the framework prints it.
using Iteration = Named<struct IterationTag, std::int64_t>;
/// Template within one incarnation of one agent; dense from 0.
using LocalTemplateId = Named<struct LocalTemplateTag, std::uint32_t>;
/// Hash of a masked line before any generalisation: the same on every node, in any order.
using Skeleton = Named<struct SkeletonTag, std::uint64_t>;
/// Job-wide template: the smallest skeleton of its class. Printed as 16 hexadecimal digits.
using TemplateId = Named<struct TemplateTag, std::uint64_t>;
/// Source (one stream of log lines) within one agent; dense from 0.
using SourceId = Named<struct SourceTag, std::uint32_t>;

/// 16 lower-case hexadecimal digits.
std::string to_string(TemplateId id);

}  // namespace l4

template <class Tag, class T>
struct std::hash<l4::Named<Tag, T>> {
  std::size_t operator()(const l4::Named<Tag, T>& id) const noexcept {
    return std::hash<T>{}(id.value());
  }
};
