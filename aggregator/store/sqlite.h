// SQLite behind Result: a connection and statements, for the database of this room alone.
//
// The library's header stays in sqlite.cc. Texts are bytes with a length. A connection outlives its
// statements. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "aggregator/store/files.h"

struct sqlite3;
struct sqlite3_stmt;

namespace l4::store {

/// The kinds of errors that the database handles differently.
enum class SqlTrouble : std::uint8_t { none, damaged, other };

class SqlConnection {
 public:
  /// `vfs`: SQLite's name of a file system; empty for the default one.
  static Result<SqlConnection> open(const Path& path, const std::string& vfs);
  SqlConnection(SqlConnection&& other) noexcept;
  SqlConnection& operator=(SqlConnection&& other) noexcept;
  ~SqlConnection();

  /// Statements without values, separated by semicolons.
  Result<void> run(const char* sql);
  /// First column of the first row.
  Result<std::int64_t> number(const char* sql);
  Result<std::string> text(const char* sql);
  std::int64_t changes() const;
  SqlTrouble last_trouble() const { return trouble_; }

 private:
  friend class SqlStatement;
  SqlConnection(sqlite3* handle, Path path) : handle_(handle), path_(std::move(path)) {}
  std::unexpected<Error> failed(int code);

  sqlite3* handle_ = nullptr;
  Path path_;
  SqlTrouble trouble_ = SqlTrouble::none;
};

class SqlStatement {
 public:
  /// An error in `sql` shows at the first step().
  SqlStatement(SqlConnection& connection, std::string_view sql);
  ~SqlStatement();
  SqlStatement(const SqlStatement&) = delete;
  SqlStatement& operator=(const SqlStatement&) = delete;

  /// Values for the question marks, in order.
  SqlStatement& bind(std::int64_t value);
  SqlStatement& bind(std::string_view value);
  SqlStatement& bind(std::optional<std::int64_t> value);
  SqlStatement& bind_bytes(std::span<const std::byte> value);

  /// True if there is a row to read.
  Result<bool> step();
  /// Runs to the end and skips the rows.
  Result<void> done();
  /// Resets the statement; the next value is for the first question mark.
  void reset();

  std::int64_t number(int column) const;
  std::optional<std::int64_t> maybe_number(int column) const;
  std::string text(int column) const;

 private:
  SqlConnection& connection_;
  sqlite3_stmt* handle_ = nullptr;
  int bound_ = 0;
  int code_ = 0;
};

/// Rolls back all changes since its construction unless commit() is called.
class SqlTransaction {
 public:
  explicit SqlTransaction(SqlConnection& connection);
  ~SqlTransaction();
  SqlTransaction(const SqlTransaction&) = delete;
  SqlTransaction& operator=(const SqlTransaction&) = delete;
  const Result<void>& begun() const { return begun_; }
  Result<void> commit();

 private:
  SqlConnection& connection_;
  Result<void> begun_;
  bool open_ = false;
};

}  // namespace l4::store
