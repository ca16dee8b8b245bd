#include "aggregator/store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace l4::store {

Result<SqlConnection> SqlConnection::open(const Path& path, const std::string& vfs) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
  const int code =
      ::sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  SqlConnection connection(handle, path);
  if (handle == nullptr) return std::unexpected(Error{path.string(), "out of memory"});
  if (code != SQLITE_OK) return connection.failed(code);
  ::sqlite3_extended_result_codes(handle, 1);
  ::sqlite3_busy_timeout(handle, 2000);
  return connection;
}

SqlConnection::SqlConnection(SqlConnection&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      trouble_(other.trouble_) {}

SqlConnection& SqlConnection::operator=(SqlConnection&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  std::swap(trouble_, other.trouble_);
  return *this;
}

SqlConnection::~SqlConnection() {
  ::sqlite3_close_v2(handle_);
}

std::unexpected<Error> SqlConnection::failed(int code) {
  const int kind = code & 0xff;
  trouble_ =
      kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB ? SqlTrouble::damaged : SqlTrouble::other;
  return std::unexpected(
      Error{path_.string(), fmt::format("{} ({})", ::sqlite3_errmsg(handle_), code)});
}

Result<void> SqlConnection::run(const char* sql) {
  const int code = ::sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failed(code);
  return {};
}

Result<std::int64_t> SqlConnection::number(const char* sql) {
  SqlStatement statement(*this, sql);
  const auto row = statement.step();
  if (!row) return std::unexpected(row.error());
  return *row ? statement.number(0) : 0;
}

Result<std::string> SqlConnection::text(const char* sql) {
  SqlStatement statement(*this, sql);
  const auto row = statement.step();
  if (!row) return std::unexpected(row.error());
  return *row ? statement.text(0) : std::string();
}

std::int64_t SqlConnection::changes() const {
  return ::sqlite3_changes64(handle_);
}

SqlStatement::SqlStatement(SqlConnection& connection, std::string_view sql)
    : connection_(connection) {
  code_ = ::sqlite3_prepare_v2(connection.handle_, sql.data(), static_cast<int>(sql.size()),
                               &handle_, nullptr);
}

SqlStatement::~SqlStatement() {
  ::sqlite3_finalize(handle_);
}

SqlStatement& SqlStatement::bind(std::int64_t value) {
  if (code_ == SQLITE_OK) code_ = ::sqlite3_bind_int64(handle_, ++bound_, value);
  return *this;
}

SqlStatement& SqlStatement::bind(std::string_view value) {
  if (code_ == SQLITE_OK)
    code_ = ::sqlite3_bind_text64(handle_, ++bound_, value.empty() ? "" : value.data(),
                                  value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);  // NOLINT
  return *this;
}

SqlStatement& SqlStatement::bind(std::optional<std::int64_t> value) {
  if (value) return bind(*value);
  if (code_ == SQLITE_OK) code_ = ::sqlite3_bind_null(handle_, ++bound_);
  return *this;
}

SqlStatement& SqlStatement::bind_bytes(std::span<const std::byte> value) {
  const void* data = value.empty() ? static_cast<const void*>("") : value.data();
  if (code_ == SQLITE_OK)
    code_ = ::sqlite3_bind_blob64(handle_, ++bound_, data, value.size(),
                                  SQLITE_TRANSIENT);  // NOLINT
  return *this;
}

Result<bool> SqlStatement::step() {
  if (code_ != SQLITE_OK) return connection_.failed(code_);
  const int code = ::sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_.failed(code);
}

Result<void> SqlStatement::done() {
  for (;;) {
    const auto row = step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
  }
}

void SqlStatement::reset() {
  if (handle_ != nullptr) ::sqlite3_reset(handle_);
  bound_ = 0;
}

std::int64_t SqlStatement::number(int column) const {
  return ::sqlite3_column_int64(handle_, column);
}

std::optional<std::int64_t> SqlStatement::maybe_number(int column) const {
  if (::sqlite3_column_type(handle_, column) == SQLITE_NULL) return std::nullopt;
  return number(column);
}

std::string SqlStatement::text(int column) const {
  const void* data = ::sqlite3_column_blob(handle_, column);
  const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(handle_, column));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

SqlTransaction::SqlTransaction(SqlConnection& connection)
    : connection_(connection), begun_(connection.run("BEGIN IMMEDIATE")), open_(begun_) {}

SqlTransaction::~SqlTransaction() {
  if (open_) static_cast<void>(connection_.run("ROLLBACK"));
}

Result<void> SqlTransaction::commit() {
  auto done = connection_.run("COMMIT");
  open_ = !done;
  return done;
}

}  // namespace l4::store
