// The tables of the database, as the steps that led to them.
//
// migrate() brings a database of any older version up to date, each step in a transaction of its
// own; one of a newer version is refused and left alone. A step that was released never changes.
#pragma once

#include "aggregator/store/sqlite.h"

namespace l4::store {

Result<void> migrate(SqlConnection& connection);

}  // namespace l4::store
