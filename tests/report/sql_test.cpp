// SPDX-License-Identifier: Apache-2.0
// SQL queries over a trace.
#include "epilogue/sql/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "epilogue/trace/reader.h"
#include "tests/analysis/modeled_trace.h"

namespace epi::analysis {
namespace {

class Sql : public testing::Test {
 protected:
  int64_t number(const std::string& sql) {
    const auto result = database_.query(sql);
    if (!result) throw std::runtime_error(result.error().message);
    return std::get<int64_t>(result->rows.at(0).at(0));
  }
  std::string error_of(const std::string& sql) {
    const auto result = database_.query(sql);
    return result ? "no error" : result.error().message;
  }

  ModeledTrace made_{"traces/mlp_eager.json"};
  sql::Database database_{made_.models};
};

TEST_F(Sql, CountsTraceEvents) {
  EXPECT_EQ(number("select count(*) from events"), made_.trace.size());
  EXPECT_EQ(number("select count(*) from kernels where kind = 'kernel'"), 15);
  EXPECT_EQ(number("select count(*) from kernels where kind = 'memset'"), 6);
  EXPECT_EQ(number("select sum(dur_ns) from kernels where kind = 'kernel'"), 699032);
  EXPECT_EQ(number("select sum(kernels) from steps"), 15);
  EXPECT_EQ(number("select dur_ns from steps where name = 'ProfilerStep#3'"), 337635);
  EXPECT_EQ(number("select count(*) from annotations where name = 'mlp_fwd'"), 3);
}

TEST_F(Sql, JoinsKernelsToLaunchesOperatorsAndSteps) {
  EXPECT_EQ(
      number(
          "select count(*) from kernels k join ops o on k.op = o.id where o.name = 'aten::gelu'"),
      3);
  EXPECT_EQ(number("select count(*) from kernels k join launches l on k.launch = l.id"), 21);
  EXPECT_EQ(number("select count(*) from kernels where step = 3 and kind = 'kernel'"), 5);
  EXPECT_EQ(number("select count(*) from ops o join ops p on o.parent = p.id where p.name = "
                   "'aten::matmul' and o.name = 'aten::mm'"),
            9);
}

TEST_F(Sql, LookupByIdMatchesFullScan) {
  for (const char* table : {"events", "ops", "kernels", "launches", "steps", "annotations"}) {
    SCOPED_TRACE(table);
    EXPECT_EQ(number(fmt::format("select count(*) from {0} a join {0} b on a.id = b.id", table)),
              number(fmt::format("select count(*) from {}", table)));
    EXPECT_EQ(number(fmt::format("select count(*) from {} where id = 999999", table)), 0);
    EXPECT_EQ(number(fmt::format("select count(*) from {} where id = null", table)), 0);
  }
}

TEST_F(Sql, ReadsArguments) {
  EXPECT_EQ(number("select count(*) from args where key = 'Input Dims'"),
            number("select count(*) from ops where name like 'aten::%'"));
  EXPECT_EQ(number("select value from args a join kernels k on a.event = k.id where a.key = "
                   "'stream' limit 1"),
            7);
}

TEST_F(Sql, ArgumentsKeepTheirTypes) {
  auto text = trace::read_bytes(
      R"([{"ph": "X", "name": "a", "ts": 1, "dur": 1, "args": {"s": "C:\\x\u00e9", "f": 0.5, "n": null, "t": true, "l": [1]}}])",
      "args");
  ASSERT_TRUE(text);
  const ModeledTrace made(std::move(*text));
  sql::Database database(made.models);
  const auto result = database.query("select value, typeof(value) from args order by key");
  ASSERT_TRUE(result);
  const std::vector<std::string> types = {"real", "text", "null", "text", "integer"};
  for (size_t i = 0; i < types.size(); ++i)
    EXPECT_EQ(std::get<std::string>(result->rows[i][1]), types[i]);
  EXPECT_EQ(std::get<std::string>(result->rows[3][0]), "C:\\x\xC3\xA9");
}

TEST_F(Sql, ReportsErrors) {
  EXPECT_EQ(error_of("selec 1"), "SQL: near \"selec\": syntax error");
  EXPECT_EQ(error_of("select no_such from ops"), "SQL: no such column: no_such");
  EXPECT_EQ(error_of(""), "SQL: the query has no statement");
  EXPECT_EQ(error_of("select 1; select 2"),
            "SQL: one statement at a time; this follows the first:  select 2");
  EXPECT_EQ(error_of("select 1 ; \n"), "no error");
  EXPECT_EQ(error_of("select 1; -- a remark"), "no error");
}

TEST_F(Sql, RefusesEverythingThatDoesNotOnlyRead) {
  const std::string path = testing::TempDir() + "/epilogue_attacked.sqlite";
  const std::pair<std::string, std::string> attacks[] = {
      {fmt::format("attach '{}' as f", path), "ATTACH or VACUUM"},
      {fmt::format("vacuum into '{}'", path), "ATTACH or VACUUM"},
      {"detach database main", "DETACH"},
      {"create table t(x)", "CREATE"},
      {"create temp table t as select * from ops", "CREATE"},
      {"begin", "a transaction"},
      {"pragma journal_mode = wal", "PRAGMA journal_mode"},
      {"PRAGMA Temp_Store_Directory = '/tmp'", "PRAGMA Temp_Store_Directory"},
      {"pragma writable_schema = on", "PRAGMA writable_schema"},
      {"select load_extension('/tmp/x.so')", "the function load_extension"},
      {"with x as (select load_extension('x') v) select v from x", "the function load_extension"},
  };
  for (const auto& [sql, what] : attacks) {
    EXPECT_EQ(error_of(sql),
              fmt::format("SQL: {} is not allowed: a query only reads the trace", what));
    EXPECT_FALSE(std::filesystem::exists(path)) << sql;
  }
  EXPECT_EQ(error_of("delete from ops"), "SQL: table ops may not be modified");
  EXPECT_EQ(error_of("update sqlite_master set sql = ''"),
            "SQL: table sqlite_master may not be modified");
}

TEST_F(Sql, AllowsStatementsThatOnlyRead) {
  EXPECT_EQ(error_of("with recursive n(i) as (select 1 union all select i + 1 from n where i < 9) "
                     "select max(i), group_concat(i) from n"),
            "no error");
  EXPECT_EQ(error_of("explain query plan select * from ops where id = 3"), "no error");
  EXPECT_EQ(error_of("pragma table_info(kernels)"), "no error");
  EXPECT_EQ(error_of("select count(*) from pragma_table_info('ops')"), "no error");
}

constexpr const char* kEndless =
    "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";

TEST_F(Sql, StopsWhenInterrupted) {
  int calls = 0;
  sql::Limits limits;
  limits.max_rows = SIZE_MAX;
  limits.is_interrupted = [&] { return ++calls == 3; };
  const auto result = database_.query(std::string(kEndless) + " where i < 0", limits);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "SQL: interrupted");
  EXPECT_EQ(number("select 1"), 1);  // the next query is not affected
}

TEST_F(Sql, StopsAfterTheTimeout) {
  sql::Limits limits;
  limits.timeout_s = 0;
  const auto result = database_.query(std::string(kEndless) + " where i < 0", limits);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "SQL: stopped after the timeout of 0 s");
}

TEST_F(Sql, CutsLongResults) {
  sql::Limits limits;
  limits.max_rows = 10;
  auto result = database_.query(kEndless, limits);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->is_cut);
  EXPECT_EQ(result->rows.size(), 10U);
  limits.max_rows = 1000;
  limits.max_bytes = 5000;
  result = database_.query("select printf('%100s', '') from ops", limits);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->is_cut);
  EXPECT_EQ(result->rows.size(), limits.max_bytes / (100 + sizeof(sql::Value)));
  limits.max_bytes = 1 << 20;
  EXPECT_FALSE(database_.query("select 1 from ops limit 1000", limits)->is_cut);
  EXPECT_EQ(error_of("select length(zeroblob(1000000000))"), "SQL: string or blob too big");
}

TEST_F(Sql, WritesADatabaseFile) {
  const std::string path =
      testing::TempDir() + "/epilogue_" + std::to_string(::getpid()) + ".sqlite";
  ASSERT_TRUE(database_.write_file(path));
  sqlite3* file = nullptr;
  ASSERT_EQ(::sqlite3_open_v2(path.c_str(), &file, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  ::sqlite3_prepare_v2(file, "select sum(dur_ns) from kernels", -1, &statement, nullptr);
  ASSERT_EQ(::sqlite3_step(statement), SQLITE_ROW);
  EXPECT_EQ(::sqlite3_column_int64(statement, 0), 703672);
  ::sqlite3_finalize(statement);
  ::sqlite3_close(file);
  std::filesystem::remove(path);
  EXPECT_FALSE(database_.write_file("/nowhere/x.sqlite"));
}

}  // namespace
}  // namespace epi::analysis
