// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/sql/sql_tables.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "epilogue/analysis/index/steps.h"
#include "epilogue/analysis/ranks/collectives.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/json_text.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/number_text.h"
#include "epilogue/trace/step_name.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

SqlCell id_cell(EventId id) {
  return id == kNoEvent ? SqlCell() : SqlCell(static_cast<int64_t>(id));
}

// Converts a JSON value to SQL: strings without quotes and escapes, numbers, null. Lists and
// objects stay text.
SqlCell argument_cell(std::string_view token) {
  if (token == "null") return {};
  if (token == "true" || token == "false") return static_cast<int64_t>(token == "true");
  if (token.size() >= 2 && token.front() == '"') {
    std::string text;
    trace::unescape(token.substr(1, token.size() - 2), text);
    return text;
  }
  if (const auto number = trace::parse_integer_token(token)) return *number;
  double real = 0;
  const auto parsed = std::from_chars(token.data(), token.data() + token.size(), real);
  if (parsed.ec == std::errc() && parsed.ptr == token.data() + token.size()) return real;
  return token;
}

// State shared by all tables: links, steps, and the step at each point in time.
class Tables {
 public:
  explicit Tables(const TraceIndex& index)
      : index_(index), trace_(index.trace), links_(index.links), ownership_(index.ownership) {
    for (const Instance& step : analysis::steps(trace_, ownership_).instances) {
      if (step.event != kNoEvent) steps_.push_back(step);
    }
  }

  using Self = std::shared_ptr<const Tables>;
  struct Maker {
    std::string_view name;
    SqlTable (*make)(const Self& self);
  };
  // The table keeps `self` alive, and with it everything that its columns read.
  static SqlTable make(const Maker& maker, const Self& self) {
    SqlTable table = maker.make(self);
    table.owner = self;
    return table;
  }
  static std::span<const Maker> makers() {
    static constexpr Maker kMakers[] = {
        {"events", events},     {"ops", ops},       {"kernels", kernels},
        {"launches", launches}, {"steps", steps},   {"annotations", annotations},
        {"args", args},         {"frames", frames}, {"collectives", collectives}};
    return kMakers;
  }

 private:
  using Rows = std::shared_ptr<const std::vector<EventId>>;

  template <typename Predicate>
  static Rows rows_where(const Self& self, Predicate&& predicate) {
    auto rows = std::make_shared<std::vector<EventId>>();
    for (EventId id = 0; id < self->trace_.size(); ++id) {
      if (predicate(id)) rows->push_back(id);
    }
    return rows;
  }

  // A column over events. `value` returns the cell of an event.
  template <typename Value>
  static SqlColumn column(const Rows& rows, const char* name, SqlType type, const Value& value) {
    return {name, type, [rows, value](size_t row) -> SqlCell { return value((*rows)[row]); }};
  }
  template <typename Value>
  static SqlColumn integer(const Rows& rows, const char* name, Value value) {
    return column(rows, name, SqlType::kInteger,
                  [value](EventId id) { return static_cast<int64_t>(value(id)); });
  }

  static SqlTable table(const char* name, const Rows& rows, std::vector<SqlColumn> columns) {
    return {name, [rows] { return rows->size(); }, std::move(columns),
            [rows](size_t row) { return static_cast<int64_t>((*rows)[row]); }};
  }

  // id, name, ts_ns, dur_ns.
  static std::vector<SqlColumn> basic_columns(const Self& self, const Rows& rows) {
    const trace::Trace* trace = &self->trace_;
    return {
        integer(rows, "id", [](EventId id) { return id; }),
        column(rows, "name", SqlType::kText, [trace](EventId id) { return trace->name_of(id); }),
        integer(rows, "ts_ns", [trace](EventId id) { return trace->ts_ns[id]; }),
        integer(rows, "dur_ns", [trace](EventId id) { return trace->dur_ns[id]; })};
  }

  static void add_lane_columns(const Self& self, const Rows& rows, const char* pid, const char* tid,
                               std::vector<SqlColumn>& columns) {
    const trace::Trace* trace = &self->trace_;
    const auto cell = [](int64_t number, const std::string& text) {
      return text.empty() ? SqlCell(number) : SqlCell(std::string_view(text));
    };
    columns.push_back(column(rows, pid, SqlType::kAny, [=](EventId id) {
      const trace::Lane& lane = trace->lanes[trace->lane[id]];
      return cell(lane.pid, lane.pid_text);
    }));
    columns.push_back(column(rows, tid, SqlType::kAny, [=](EventId id) {
      const trace::Lane& lane = trace->lanes[trace->lane[id]];
      return cell(lane.tid, lane.tid_text);
    }));
  }

  // The step at time `ns`: the N of `ProfilerStep#N`, or the position among other steps.
  SqlCell step_cell(int64_t ns) const {
    const auto after = std::upper_bound(
        steps_.begin(), steps_.end(), ns,
        [](int64_t moment, const Instance& step) { return moment < step.begin_ns; });
    if (after == steps_.begin() || ns >= std::prev(after)->end_ns) return {};
    const auto step = std::prev(after);
    const auto number = trace::is_step_name(step->name)
                            ? trace::parse_integer_token(trace::step_number(step->name))
                            : std::optional<int64_t>(step - steps_.begin());
    return number ? SqlCell(*number) : SqlCell();
  }

  static SqlTable events(const Self& self) {
    const trace::Trace* trace = &self->trace_;
    const Rows rows = rows_where(self, [](EventId) { return true; });
    auto columns = basic_columns(self, rows);
    columns.push_back(column(rows, "ph", SqlType::kText, [trace](EventId id) {
      return std::string_view(reinterpret_cast<const char*>(&trace->phase[id]), 1);
    }));
    columns.push_back(column(rows, "cat", SqlType::kText, [trace](EventId id) {
      const std::string_view text = trace->category_text(id);
      return text.empty() ? SqlCell() : SqlCell(text);
    }));
    add_lane_columns(self, rows, "pid", "tid", columns);
    columns.push_back(
        integer(rows, "external_id", [trace](EventId id) { return trace->external_id[id]; }));
    columns.push_back(
        integer(rows, "correlation", [trace](EventId id) { return trace->correlation[id]; }));
    return table("events", rows, std::move(columns));
  }

  static SqlTable ops(const Self& self) {
    const Tables* tables = self.get();
    const auto forward =
        std::make_shared<const std::vector<EventId>>(trace::forward_ops(self->trace_));
    const Rows rows = rows_where(self, [tables](EventId id) {
      const Category category = tables->trace_.category[id];
      return tables->trace_.is_span(id) &&
             (category == Category::kCpuOp || category == Category::kUserAnnotation);
    });
    auto columns = basic_columns(self, rows);
    columns.push_back(
        integer(rows, "self_ns", [tables](EventId id) { return tables->links_.tree.self_ns[id]; }));
    add_lane_columns(self, rows, "pid", "tid", columns);
    columns.push_back(column(rows, "parent", SqlType::kInteger, [tables](EventId id) {
      return id_cell(tables->links_.tree.parent[id]);
    }));
    columns.push_back(column(rows, "step", SqlType::kInteger, [tables](EventId id) {
      return tables->step_cell(tables->trace_.ts_ns[id]);
    }));
    columns.push_back(column(rows, "forward", SqlType::kInteger,
                             [forward](EventId id) { return id_cell((*forward)[id]); }));
    return table("ops", rows, std::move(columns));
  }

  static SqlTable kernels(const Self& self) {
    const Tables* tables = self.get();
    const trace::Trace* trace = &self->trace_;
    const Rows rows = rows_where(self, [trace](EventId id) {
      return trace->is_span(id) && trace::is_device_work(trace->category[id]);
    });
    auto columns = basic_columns(self, rows);
    columns.insert(columns.begin() + 2, column(rows, "kind", SqlType::kText, [trace](EventId id) {
                     const Category category = trace->category[id];
                     return std::string_view(category == Category::kKernel      ? "kernel"
                                             : category == Category::kGpuMemcpy ? "memcpy"
                                                                                : "memset");
                   }));
    add_lane_columns(self, rows, "device", "stream", columns);
    columns.push_back(
        integer(rows, "correlation", [trace](EventId id) { return trace->correlation[id]; }));
    columns.push_back(column(rows, "launch", SqlType::kInteger,
                             [tables](EventId id) { return id_cell(tables->links_.launch[id]); }));
    columns.push_back(column(rows, "op", SqlType::kInteger,
                             [tables](EventId id) { return id_cell(tables->links_.op[id]); }));
    columns.push_back(column(rows, "step", SqlType::kInteger, [tables](EventId id) {
      const trace::Links& links = tables->links_;
      const bool attributed = links.launch[id] != kNoEvent || links.op[id] != kNoEvent;
      return attributed ? tables->step_cell(links.launch_ns[id]) : SqlCell();
    }));
    return table("kernels", rows, std::move(columns));
  }

  static SqlTable launches(const Self& self) {
    const Tables* tables = self.get();
    const trace::Trace* trace = &self->trace_;
    const Rows rows = rows_where(self, [trace](EventId id) {
      return trace->is_span(id) && trace::is_call(trace->category[id]);
    });
    auto columns = basic_columns(self, rows);
    add_lane_columns(self, rows, "pid", "tid", columns);
    columns.push_back(
        integer(rows, "correlation", [trace](EventId id) { return trace->correlation[id]; }));
    columns.push_back(column(rows, "op", SqlType::kInteger,
                             [tables](EventId id) { return id_cell(tables->links_.op[id]); }));
    columns.push_back(column(rows, "step", SqlType::kInteger, [tables](EventId id) {
      return tables->step_cell(tables->trace_.ts_ns[id]);
    }));
    return table("launches", rows, std::move(columns));
  }

  static SqlTable steps(const Self& self) { return instances(self, "steps", &self->steps_); }

  static SqlTable annotations(const Self& self) {
    auto rows = std::make_shared<std::vector<Instance>>();
    for (const InstanceGroup& group : analysis::annotations(self->trace_, self->ownership_)) {
      rows->insert(rows->end(), group.instances.begin(), group.instances.end());
    }
    std::sort(rows->begin(), rows->end(),
              [](const Instance& a, const Instance& b) { return a.event < b.event; });
    return instances(rows, "annotations", rows.get());
  }

  // Steps or annotations, with their measures. `self` keeps the rows alive.
  static SqlTable instances(const std::shared_ptr<const void>& self, const char* name,
                            const std::vector<Instance>* rows) {
    const auto number = [&](const char* column, auto value) {
      return SqlColumn{column, SqlType::kInteger, [self, rows, value](size_t row) -> SqlCell {
                         return static_cast<int64_t>(value((*rows)[row]));
                       }};
    };
    std::vector<SqlColumn> columns = {
        number("id", [](const Instance& i) { return i.event; }),
        {"name", SqlType::kText,
         [self, rows](size_t row) -> SqlCell { return std::string_view((*rows)[row].name); }},
        number("ts_ns", [](const Instance& i) { return i.begin_ns; }),
        number("dur_ns", [](const Instance& i) { return i.end_ns - i.begin_ns; }),
        number("gpu_ns", [](const Instance& i) { return i.measures.device_ns; }),
        number("busy_ns", [](const Instance& i) { return i.measures.busy_ns; }),
        number("idle_ns", [](const Instance& i) { return i.measures.idle_ns(); }),
        number("kernels", [](const Instance& i) { return i.measures.kernels; }),
        number("memcpy", [](const Instance& i) { return i.measures.memcpys; }),
        number("memset", [](const Instance& i) { return i.measures.memsets; }),
        number("launches", [](const Instance& i) { return i.measures.launches; }),
        number("syncs", [](const Instance& i) { return i.measures.syncs; }),
        number("cold", [](const Instance& i) { return i.cold ? 1 : 0; })};
    // Steps are ordered by time, which can differ from the order in the file.
    const bool ascending =
        std::is_sorted(rows->begin(), rows->end(),
                       [](const Instance& a, const Instance& b) { return a.event < b.event; });
    SqlTable result{name, [rows] { return rows->size(); }, std::move(columns), {}};
    if (ascending) {
      result.first_key = [self, rows](size_t row) {
        return static_cast<int64_t>((*rows)[row].event);
      };
    }
    return result;
  }

  struct Argument {
    EventId event;
    std::string_view key;
    std::string_view value;
  };

  // A trace has many arguments, so their rows are built when the table is first read.
  const std::vector<Argument>& arguments() const {
    if (!arguments_) {
      arguments_.emplace();
      for (EventId id = 0; id < trace_.size(); ++id) {
        for (const auto& [key, value] : trace::object_members(trace_.args_of(id))) {
          arguments_->push_back({id, key, value});
        }
      }
    }
    return *arguments_;
  }

  static SqlTable args(const Self& self) {
    const auto column = [&](const char* name, SqlType type, auto value) {
      return SqlColumn{name, type, [self, value](size_t row) -> SqlCell {
                         return value(self->arguments()[row]);
                       }};
    };
    return {
        "args",
        [self] { return self->arguments().size(); },
        {column("event", SqlType::kInteger, [](const Argument& a) { return id_cell(a.event); }),
         column("key", SqlType::kText, [](const Argument& a) { return a.key; }),
         column("value", SqlType::kAny, [](const Argument& a) { return argument_cell(a.value); })},
        [self](size_t row) { return static_cast<int64_t>(self->arguments()[row].event); }};
  }

  static SqlTable frames(const Self& self) {
    const Rows rows = rows_where(self, [&](EventId id) {
      return self->trace_.is_span(id) && self->trace_.category[id] == Category::kPythonFunction;
    });
    auto columns = basic_columns(self, rows);
    add_lane_columns(self, rows, "pid", "tid", columns);
    const auto parents = std::make_shared<const std::vector<EventId>>(
        rows->empty() ? std::vector<EventId>() : trace::python_parents(self->trace_));
    columns.push_back(column(rows, "parent", SqlType::kInteger,
                             [parents](EventId id) { return id_cell((*parents)[id]); }));
    return table("frames", rows, std::move(columns));
  }

  static SqlTable collectives(const Self& self) {
    const auto rows =
        std::make_shared<const std::vector<Collective>>(analysis::collectives(self->index_));
    const auto column = [&](const char* name, SqlType type, auto value) {
      return SqlColumn{name, type,
                       [rows, value](size_t row) -> SqlCell { return value((*rows)[row]); }};
    };
    const auto optional = [](const std::optional<int64_t>& number) {
      return number ? SqlCell(*number) : SqlCell();
    };
    const Tables* tables = self.get();
    const trace::Trace* trace = &self->trace_;
    return {"collectives",
            [rows] { return rows->size(); },
            {column("id", SqlType::kInteger, [](const Collective& c) { return id_cell(c.kernel); }),
             column("kind", SqlType::kText,
                    [](const Collective& c) { return std::string_view(c.kind); }),
             column("process_group", SqlType::kText,
                    [](const Collective& c) {
                      return c.group.empty() ? SqlCell() : SqlCell(std::string_view(c.group));
                    }),
             column("group_size", SqlType::kInteger,
                    [optional](const Collective& c) { return optional(c.group_size); }),
             column("position", SqlType::kInteger,
                    [](const Collective& c) { return SqlCell(c.position); }),
             column("in_bytes", SqlType::kInteger,
                    [optional](const Collective& c) { return optional(c.in_bytes); }),
             column("out_bytes", SqlType::kInteger,
                    [optional](const Collective& c) { return optional(c.out_bytes); }),
             column("ts_ns", SqlType::kInteger,
                    [trace](const Collective& c) { return SqlCell(trace->ts_ns[c.kernel]); }),
             column("dur_ns", SqlType::kInteger,
                    [trace](const Collective& c) { return SqlCell(trace->dur_ns[c.kernel]); }),
             column("op", SqlType::kInteger,
                    [tables](const Collective& c) { return id_cell(tables->links_.op[c.kernel]); }),
             column("step", SqlType::kInteger,
                    [tables](const Collective& c) {
                      return tables->step_cell(tables->links_.launch_ns[c.kernel]);
                    })},
            {}};
  }

  const TraceIndex& index_;
  const trace::Trace& trace_;
  const trace::Links& links_;
  const Ownership& ownership_;
  std::vector<Instance> steps_;  // without the whole-trace instance
  mutable std::optional<std::vector<Argument>> arguments_;
};

}  // namespace

std::vector<SqlTable> sql_tables(const TraceIndex& index) {
  const auto shared = std::make_shared<const Tables>(index);
  std::vector<SqlTable> tables;
  for (const Tables::Maker& maker : Tables::makers()) tables.push_back(Tables::make(maker, shared));
  return tables;
}

std::optional<SqlTable> sql_table(const TraceIndex& index, std::string_view name) {
  for (const Tables::Maker& maker : Tables::makers()) {
    if (maker.name == name) return Tables::make(maker, std::make_shared<const Tables>(index));
  }
  return std::nullopt;
}

std::vector<std::string_view> sql_table_names() {
  std::vector<std::string_view> names;
  for (const Tables::Maker& maker : Tables::makers()) names.push_back(maker.name);
  return names;
}

}  // namespace epi::analysis
