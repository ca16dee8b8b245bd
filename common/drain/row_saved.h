// Saves and loads rows and tables of hashes, for saved Groupings (drain/grouping.h).
//
// No state. After a failed read rows are empty; the caller tests ByteReader::ok() once at the end.
#pragma once

#include "common/base/byte_stream.h"
#include "common/base/flat_table.h"
#include "common/drain/row.h"

namespace l4::drain {

void save(ByteWriter& out, const Row& row);
Row load_row(ByteReader& in);

/// `write(out, value)` writes one value.
template <class Value, class Write>
void save(ByteWriter& out, const FlatTable<Value>& table, Write write) {
  out.number(table.size());
  table.for_each_entry([&](std::uint64_t key, const Value& value) {
    out.word(key);
    write(out, value);
  });
}

/// `read(in)` reads one value.
template <class Value, class Read>
void load(ByteReader& in, FlatTable<Value>& table, Read read) {
  for (std::size_t left = in.count(sizeof(std::uint64_t)); left > 0 && in.ok(); --left) {
    const std::uint64_t key = in.word();
    table[key] = read(in);
  }
}

}  // namespace l4::drain
