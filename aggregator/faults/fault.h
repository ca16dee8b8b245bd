// One known fault: the pattern of its lines, their cause, and what to do.
//
// Flow: config/faults/*.toml -> Library -> diagnose. A fault is a cause or, with `consequence`, the
// consequence of another fault (a peer that closed its socket, a watchdog, a launcher's summary):
// causes rank before consequences. Plain values, owned by the Library.
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
/// The closed list of a category.
const std::vector<std::string_view>& subcategories_of(Category category);

/// The key of a kind of condition in entries: code, errno, signal, exit_code.
std::string_view name(wire::ParameterKind kind);

/// One of `values` must be among the event's parameters of this kind.
struct Condition {
  wire::ParameterKind kind = wire::ParameterKind::code;
  std::vector<std::string> values;
};

/// An engineer's word that an incident had this fault: its lines are recognised from then on.
struct Confirmation {
  std::string by;        ///< name of the token, or `local` if the server needs none
  TimeMs at;             ///< time of the confirmation, by the aggregator's clock
  std::string incident;  ///< id of the incident
  bool operator==(const Confirmation&) const = default;
};

struct Fault {
  std::string id;
  std::string family;  ///< the file's name without .toml
  std::string title;
  Category category = Category::user;
  std::string subcategory;            ///< from the closed list of its category
  std::vector<std::string> patterns;  ///< one must match; notation.h has the notation
  std::vector<std::string> unless;    ///< none may match
  std::vector<Condition> conditions;  ///< all must hold
  Scope scope = Scope::rank;          ///< how much of the job one such event affects
  bool consequence = false;           ///< usually follows another fault
  bool general = false;               ///< says that something failed, not what
  bool timeout = false;               ///< reports a long wait: a hang came before
  bool setup = false;                 ///< happens while processes find each other
  std::string stopped_by;             ///< who or which limit ended the job; empty: nobody did
  bool accuses_peer = false;          ///< reports that another process is gone or silent
  Level severity = Level::error;      ///< info, warning, error, fatal (ends the process)
  std::string cause, fix, action;
  std::vector<std::string> matches, rejects;  ///< lines of its self-test
  std::optional<Confirmation> confirmed;      ///< empty: shipped, or written by hand
};

}  // namespace l4::faults
