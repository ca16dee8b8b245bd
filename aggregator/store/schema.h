// The tables of the database, as a list of migration steps.
//
// migrate() brings a database of any older version up to date, each step in its own transaction; a
// database of a newer version is refused and not changed. A released step never changes.
#pragma once

#include "aggregator/store/sqlite.h"

namespace l4::store {

Result<void> migrate(SqlConnection& connection);
/// Whether migrate() refused the database for its version.
inline bool is_of_other_version(const Error& error) {
  return error.reason.starts_with("the database has schema");
}

}  // namespace l4::store
