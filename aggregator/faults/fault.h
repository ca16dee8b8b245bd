// One known fault: how its lines read, what causes them, what to do.
//
// Flow: config/faults/*.toml -> Library -> diagnose. A fault is a cause or, with `consequence`, the
// echo of one (a peer that closed its socket, a watchdog, a launcher's summary): causes rank before
// consequences wherever both are seen. Plain values, owned by the Library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/base/vocabulary.h"
#include "common/wire/batch.h"

namespace l4::faults {

enum class Category : std::uint8_t { hardware, user, framework, platform };
std::string_view name(Category category);
/// Of a category; closed lists.
const std::vector<std::string_view>& subcategories_of(Category category);

/// How conditions of a kind are called in entries: code, errno, signal, exit_code.
std::string_view name(wire::ParameterKind kind);

/// One of `values` must be among the event's parameters of this kind.
struct Condition {
  wire::ParameterKind kind = wire::ParameterKind::code;
  std::vector<std::string> values;
};

/// That an engineer found the cause of an incident, and whose lines are to be known from then on.
struct Confirmation {
  std::string by;        ///< name of the token, or `local` where none is asked for
  TimeMs at;             ///< by the aggregator's clock
  std::string incident;  ///< its id
  bool operator==(const Confirmation&) const = default;
};

struct Fault {
  std::string id;
  std::string family;  ///< the file's name without .toml
  std::string title;
  Category category = Category::user;
  std::string subcategory;            ///< of a closed list for each category
  std::vector<std::string> patterns;  ///< any of them; see Library for the notation
  std::vector<std::string> unless;    ///< none of them
  std::vector<Condition> conditions;  ///< all of them
  Scope scope = Scope::rank;          ///< what one such event touches by itself
  bool consequence = false;           ///< usually follows another fault
  bool timeout = false;               ///< says that something waited for long: a hang came before
  bool setup = false;                 ///< happens while processes find each other
  bool accuses_peer = false;          ///< says that another process is gone or silent
  Level severity = Level::error;      ///< info, warning, error, fatal (ends the process)
  std::string cause, fix, action;
  std::vector<std::string> matches, rejects;  ///< its self-test
  std::optional<Confirmation> confirmed;      ///< empty: it ships, or was written by hand
};

}  // namespace l4::faults
