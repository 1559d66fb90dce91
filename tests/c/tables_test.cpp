// SPDX-License-Identifier: Apache-2.0
// Arrow streams of the C interface.
#include <atomic>
#include <future>
#include <string>

#include "tests/c/handles.h"

namespace epi::c {
namespace {

// A batch with its schema.
struct Batch {
  ArrowSchema schema{};
  ArrowArray array{};

  Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    if (schema.release != nullptr) schema.release(&schema);
    if (array.release != nullptr) array.release(&array);
  }

  int64_t column(const std::string& name) const {
    for (int64_t i = 0; i < schema.n_children; ++i) {
      if (schema.children[i]->name == name) return i;
    }
    ADD_FAILURE() << "no column " << name;
    return 0;
  }
  bool is_null(const std::string& name, int64_t row) const {
    const auto* bits = static_cast<const uint8_t*>(array.children[column(name)]->buffers[0]);
    return bits != nullptr && (bits[row / 8] >> (row % 8) & 1) == 0;
  }
  int64_t integer(const std::string& name, int64_t row) const {
    EXPECT_STREQ(schema.children[column(name)]->format, "l");
    return static_cast<const int64_t*>(array.children[column(name)]->buffers[1])[row];
  }
  double real(const std::string& name, int64_t row) const {
    EXPECT_STREQ(schema.children[column(name)]->format, "g");
    return static_cast<const double*>(array.children[column(name)]->buffers[1])[row];
  }
  std::string text(const std::string& name, int64_t row) const {
    EXPECT_STREQ(schema.children[column(name)]->format, "i");
    EXPECT_STREQ(schema.children[column(name)]->dictionary->format, "u");
    const ArrowArray& codes = *array.children[column(name)];
    const auto code = static_cast<const int32_t*>(codes.buffers[1])[row];
    const auto* ends = static_cast<const int32_t*>(codes.dictionary->buffers[1]);
    const auto* bytes = static_cast<const char*>(codes.dictionary->buffers[2]);
    return {bytes + ends[code], bytes + ends[code + 1]};
  }
};

// Takes the only batch of a stream, and releases the stream.
void take(ArrowArrayStream& stream, Batch& batch) {
  ASSERT_NE(stream.release, nullptr);
  ASSERT_EQ(stream.get_schema(&stream, &batch.schema), 0);
  ASSERT_EQ(stream.get_next(&stream, &batch.array), 0);
  ArrowArray end{};
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
}

void query(const TraceHandle& trace, const char* sql, Batch& batch) {
  ArrowArrayStream stream;
  Text message;
  ASSERT_EQ(epi_query(trace.get(), sql, nullptr, nullptr, nullptr, &stream, message.out()), EPI_OK)
      << message.str();
  take(stream, batch);
}

const std::string kMlp = data_path("traces/mlp_eager.json");

TEST(CTables, HaveTheRowsOfSql) {
  const TraceHandle trace = open_path(kMlp);
  for (const char* name : {"events", "ops", "kernels", "launches", "steps", "annotations", "args",
                           "frames", "collectives"}) {
    ArrowArrayStream stream;
    ASSERT_EQ(epi_table(trace.get(), name, &stream, nullptr), EPI_OK) << name;
    Batch table;
    take(stream, table);
    Batch rows;
    query(trace, ("select count(*) as n from " + std::string(name)).c_str(), rows);
    EXPECT_EQ(table.array.length, rows.integer("n", 0)) << name;
  }
}

TEST(CTables, HaveTheValuesOfSql) {
  const TraceHandle trace = open_path(kMlp);
  ArrowArrayStream stream;
  ASSERT_EQ(epi_table(trace.get(), "kernels", &stream, nullptr), EPI_OK);
  Batch table;
  take(stream, table);
  Batch rows;
  query(trace, "select * from kernels order by id", rows);
  ASSERT_EQ(table.array.length, rows.array.length);
  for (int64_t row = 0; row < rows.array.length; ++row) {
    EXPECT_EQ(table.text("name", row), rows.text("name", row));
    EXPECT_EQ(table.integer("dur_ns", row), rows.integer("dur_ns", row));
    EXPECT_EQ(table.is_null("op", row), rows.is_null("op", row));
    EXPECT_EQ(table.integer("op", row), rows.integer("op", row));
  }
}

TEST(CTables, OutliveTheTrace) {
  TraceHandle trace = open_path(kMlp);
  ArrowArrayStream stream;
  ASSERT_EQ(epi_table(trace.get(), "kernels", &stream, nullptr), EPI_OK);
  trace.reset();
  Batch table;
  take(stream, table);
  EXPECT_FALSE(table.text("name", 0).empty());
}

TEST(CTables, AllowToMoveAChildOut) {
  const TraceHandle trace = open_path(kMlp);
  ArrowArray child{};
  {
    ArrowArrayStream stream;
    ASSERT_EQ(epi_table(trace.get(), "kernels", &stream, nullptr), EPI_OK);
    Batch table;
    take(stream, table);
    child = *table.array.children[0];
    table.array.children[0]->release = nullptr;
  }
  EXPECT_GE(static_cast<const int64_t*>(child.buffers[1])[0], 0);
  child.release(&child);
}

TEST(CTables, PromoteMixedColumns) {
  const TraceHandle trace = open_path(kMlp);
  Batch rows;
  query(trace,
        "select 1 as i, null as r, null as t, null as n union all select 2, 0.5, 'x', null "
        "union all select 3, 7, 8, null",
        rows);
  EXPECT_EQ(rows.integer("i", 2), 3);
  EXPECT_TRUE(rows.is_null("r", 0));
  EXPECT_EQ(rows.real("r", 1), 0.5);
  EXPECT_EQ(rows.real("r", 2), 7.0);
  EXPECT_TRUE(rows.is_null("t", 0));
  EXPECT_EQ(rows.text("t", 1), "x");
  EXPECT_EQ(rows.text("t", 2), "8");
  for (int64_t row = 0; row < 3; ++row) EXPECT_TRUE(rows.is_null("n", row));
}

TEST(CTables, HaveTheTypesOfTheTableWithoutRows) {
  const TraceHandle trace = open_path(kMlp);
  Batch rows;
  query(trace, "select name, dur_ns from kernels where 0", rows);
  EXPECT_EQ(rows.array.length, 0);
  EXPECT_STREQ(rows.schema.children[rows.column("name")]->format, "i");
  EXPECT_STREQ(rows.schema.children[rows.column("dur_ns")]->format, "l");
}

TEST(CTables, AreValidUtf8) {
  const TraceHandle trace = open_path(kMlp);
  Batch rows;
  query(trace, "select cast(x'ff41' as text) as t", rows);
  EXPECT_EQ(rows.text("t", 0),
            "\xEF\xBF\xBD"
            "A");
}

TEST(CTables, TellTheFilesOfAFolderApart) {
  const char* paths[] = {kMlp.c_str(), kMlp.c_str()};
  epi_trace* raw = nullptr;
  ASSERT_EQ(epi_trace_open(paths, 2, nullptr, nullptr, nullptr, &raw, nullptr), EPI_OK);
  const TraceHandle both(raw);
  EXPECT_EQ(epi_trace_count(both.get()), 2U);
  ArrowArrayStream stream;
  ASSERT_EQ(epi_table(both.get(), "kernels", &stream, nullptr), EPI_OK);
  Batch table;
  take(stream, table);
  const int64_t half = table.array.length / 2;
  EXPECT_EQ(table.integer("file", 0), 0);
  EXPECT_EQ(table.integer("file", half), 1);
  EXPECT_EQ(table.integer("dur_ns", half), table.integer("dur_ns", 0));
}

TEST(CTables, NameWhatIsWrong) {
  const TraceHandle trace = open_path(kMlp);
  ArrowArrayStream stream;
  const auto fails = [&](const char* sql, const char* options) {
    Text message;
    EXPECT_EQ(epi_query(trace.get(), sql, options, nullptr, nullptr, &stream, message.out()),
              EPI_INVALID);
    EXPECT_EQ(stream.release, nullptr);
    return message.str();
  };
  EXPECT_EQ(fails("select missing", nullptr), "SQL: no such column: missing");
  EXPECT_EQ(fails("select 1", R"({"max_rows": 0})"),
            "option \"max_rows\": expected a positive number, not 0");
  EXPECT_EQ(fails("select 1", R"({"timeout": 10000000000})"),
            "option \"timeout\": must be at most 1000000");
  EXPECT_EQ(fails("select 1", R"({"rows": 1})"),
            "unknown option \"rows\": expected max_rows or timeout");
  Text message;
  EXPECT_EQ(epi_table(trace.get(), "kernel", &stream, message.out()), EPI_INVALID);
  EXPECT_TRUE(message.str().starts_with("no table \"kernel\": the tables are events, ops"));
}

TEST(CTables, SayThatARowLimitCutsTheResult) {
  const TraceHandle trace = open_path(kMlp);
  ArrowArrayStream stream;
  Text message;
  ASSERT_EQ(epi_query(trace.get(), "select 1 union select 2", R"({"max_rows": 1})", nullptr,
                      nullptr, &stream, message.out()),
            EPI_OK);
  EXPECT_NE(message.str().find("cut after 1 rows"), std::string::npos);
  stream.release(&stream);
}

// Runs until it is cancelled.
constexpr const char* kEndless =
    "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n";

TEST(CTables, CancelAStatement) {
  const TraceHandle trace = open_path(kMlp);
  ArrowArrayStream stream;
  const auto cancel = [](void*, double) { return 1; };
  EXPECT_EQ(epi_query(trace.get(), kEndless, nullptr, cancel, nullptr, &stream, nullptr),
            EPI_CANCELLED);
  EXPECT_EQ(stream.release, nullptr);
}

TEST(CTables, FinishAStatementOnATraceThatIsClosed) {
  epi_trace* trace = open_path(kMlp).release();
  struct State {
    std::promise<void> started;
    int calls = 0;
    std::atomic<bool> is_closed = false;
  } state;
  const auto progress = [](void* user, double) {
    auto& self = *static_cast<State*>(user);
    if (self.calls++ == 0) self.started.set_value();
    return self.is_closed ? 1 : 0;
  };
  auto status = std::async(std::launch::async, [&, handle = trace] {
    ArrowArrayStream stream;
    return epi_query(handle, kEndless, nullptr, progress, &state, &stream, nullptr);
  });
  state.started.get_future().wait();
  epi_trace_close(&trace);
  EXPECT_EQ(trace, nullptr);
  state.is_closed = true;
  EXPECT_EQ(status.get(), EPI_CANCELLED);
}

}  // namespace
}  // namespace epi::c
