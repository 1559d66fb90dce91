// SPDX-License-Identifier: Apache-2.0
#include "epilogue/sql/tables.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "epilogue/analysis/ranks/collectives.h"
#include "epilogue/report/steps/step_members.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/json_text.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/number_text.h"
#include "epilogue/trace/step_name.h"

namespace epi::sql {
namespace {

using analysis::Collective;
using analysis::StepGroup;
using analysis::StepModel;
using analysis::TraceIndex;
using trace::Category;
using trace::EventId;
using trace::kNoEvent;

Cell id_cell(EventId id) { return id == kNoEvent ? Cell() : Cell(static_cast<int64_t>(id)); }

// Converts a JSON value to SQL: strings without quotes and escapes, numbers, null. Lists and
// objects stay text.
Cell argument_cell(std::string_view token) {
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

// Described members as columns: times are integers in nanoseconds, flags are 0 and 1.
template <typename Member>
std::string member_name(const Member& member) {
  std::string name = member.key;
  const bool is_time = member.unit == report::Unit::kNanoseconds && name.ends_with("_us");
  return is_time ? name.replace(name.size() - 2, 2, "ns") : name;
}
template <typename Member>
Type member_type(const Member& member) {
  return member.unit == report::Unit::kShare ? Type::kAny : Type::kInteger;
}
Cell cell_of(bool flag) { return int64_t{flag}; }
Cell cell_of(int64_t number) { return number; }
Cell cell_of(double number) { return number; }
Cell cell_of(std::string_view text) { return text; }
Cell cell_of(const std::optional<int64_t>& number) { return number ? Cell(*number) : Cell(); }

// What every table of events has, under its own names: id, name, ts_ns, dur_ns.
bool is_event_column(std::string_view key) { return key == "name" || key == "cpu_us"; }

// State shared by all tables: links, steps, and the step at each point in time.
class Tables {
 public:
  explicit Tables(const analysis::StepModels& models)
      : models_(models),
        index_(models.index()),
        trace_(models.index().trace),
        links_(models.index().links) {}

  using Self = std::shared_ptr<const Tables>;
  struct Maker {
    std::string_view name;
    Table (*make)(const Self& self);
  };
  // The table keeps `self` alive, and with it everything that its columns read.
  static Table make(const Maker& maker, const Self& self) {
    Table table = maker.make(self);
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
  static Column column(const Rows& rows, const char* name, Type type, const Value& value) {
    return {name, type, [rows, value](size_t row) -> Cell { return value((*rows)[row]); }};
  }
  template <typename Value>
  static Column integer(const Rows& rows, const char* name, Value value) {
    return column(rows, name, Type::kInteger,
                  [value](EventId id) { return static_cast<int64_t>(value(id)); });
  }

  static Table table(const char* name, const Rows& rows, std::vector<Column> columns) {
    return {name, [rows] { return rows->size(); }, std::move(columns),
            [rows](size_t row) { return static_cast<int64_t>((*rows)[row]); }};
  }

  // id, name, ts_ns, dur_ns.
  static std::vector<Column> basic_columns(const Self& self, const Rows& rows) {
    const trace::Trace* trace = &self->trace_;
    return {integer(rows, "id", [](EventId id) { return id; }),
            column(rows, "name", Type::kText, [trace](EventId id) { return trace->name_of(id); }),
            integer(rows, "ts_ns", [trace](EventId id) { return trace->ts_ns[id]; }),
            integer(rows, "dur_ns", [trace](EventId id) { return trace->dur_ns[id]; })};
  }

  static void add_lane_columns(const Self& self, const Rows& rows, const char* pid, const char* tid,
                               std::vector<Column>& columns) {
    const trace::Trace* trace = &self->trace_;
    const auto cell = [](int64_t number, const std::string& text) {
      return text.empty() ? Cell(number) : Cell(std::string_view(text));
    };
    columns.push_back(column(rows, pid, Type::kAny, [=](EventId id) {
      const trace::Lane& lane = trace->lanes[trace->lane[id]];
      return cell(lane.pid, lane.pid_text);
    }));
    columns.push_back(column(rows, tid, Type::kAny, [=](EventId id) {
      const trace::Lane& lane = trace->lanes[trace->lane[id]];
      return cell(lane.tid, lane.tid_text);
    }));
  }

  // The steps that the trace marks.
  const std::vector<StepModel>& marked_steps() const {
    static const std::vector<StepModel> kNone;
    return models_.steps().is_whole_trace() ? kNone : models_.steps().steps;
  }

  // The step at time `ns`: the N of `ProfilerStep#N`, or the position among other steps.
  Cell step_cell(int64_t ns) const {
    const auto& steps = marked_steps();
    const auto after = std::upper_bound(
        steps.begin(), steps.end(), ns,
        [](int64_t moment, const StepModel& step) { return moment < step.host.begin; });
    if (after == steps.begin() || ns >= std::prev(after)->host.end) return {};
    const auto step = std::prev(after);
    const auto number = trace::is_step_name(step->name)
                            ? trace::parse_integer_token(trace::step_number(step->name))
                            : std::optional<int64_t>(step - steps.begin());
    return number ? Cell(*number) : Cell();
  }

  static Table events(const Self& self) {
    const trace::Trace* trace = &self->trace_;
    const Rows rows = rows_where(self, [](EventId) { return true; });
    auto columns = basic_columns(self, rows);
    columns.push_back(column(rows, "ph", Type::kText, [trace](EventId id) {
      return std::string_view(reinterpret_cast<const char*>(&trace->phase[id]), 1);
    }));
    columns.push_back(column(rows, "cat", Type::kText, [trace](EventId id) {
      const std::string_view text = trace->category_text(id);
      return text.empty() ? Cell() : Cell(text);
    }));
    add_lane_columns(self, rows, "pid", "tid", columns);
    columns.push_back(
        integer(rows, "external_id", [trace](EventId id) { return trace->external_id[id]; }));
    columns.push_back(
        integer(rows, "correlation", [trace](EventId id) { return trace->correlation[id]; }));
    return table("events", rows, std::move(columns));
  }

  static Table ops(const Self& self) {
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
    columns.push_back(column(rows, "parent", Type::kInteger, [tables](EventId id) {
      return id_cell(tables->links_.tree.parent[id]);
    }));
    columns.push_back(column(rows, "step", Type::kInteger, [tables](EventId id) {
      return tables->step_cell(tables->trace_.ts_ns[id]);
    }));
    columns.push_back(column(rows, "forward", Type::kInteger,
                             [forward](EventId id) { return id_cell((*forward)[id]); }));
    return table("ops", rows, std::move(columns));
  }

  static Table kernels(const Self& self) {
    const Tables* tables = self.get();
    const trace::Trace* trace = &self->trace_;
    const Rows rows = rows_where(self, [trace](EventId id) {
      return trace->is_span(id) && trace::is_device_work(trace->category[id]);
    });
    auto columns = basic_columns(self, rows);
    columns.insert(columns.begin() + 2, column(rows, "kind", Type::kText, [trace](EventId id) {
                     const Category category = trace->category[id];
                     return std::string_view(category == Category::kKernel      ? "kernel"
                                             : category == Category::kGpuMemcpy ? "memcpy"
                                                                                : "memset");
                   }));
    add_lane_columns(self, rows, "device", "stream", columns);
    columns.push_back(
        integer(rows, "correlation", [trace](EventId id) { return trace->correlation[id]; }));
    columns.push_back(column(rows, "launch", Type::kInteger,
                             [tables](EventId id) { return id_cell(tables->links_.launch[id]); }));
    columns.push_back(column(rows, "op", Type::kInteger,
                             [tables](EventId id) { return id_cell(tables->links_.op[id]); }));
    columns.push_back(column(rows, "step", Type::kInteger, [tables](EventId id) {
      const trace::Links& links = tables->links_;
      const bool attributed = links.launch[id] != kNoEvent || links.op[id] != kNoEvent;
      return attributed ? tables->step_cell(links.launch_ns[id]) : Cell();
    }));
    return table("kernels", rows, std::move(columns));
  }

  static Table launches(const Self& self) {
    const Tables* tables = self.get();
    const trace::Trace* trace = &self->trace_;
    const Rows rows = rows_where(self, [trace](EventId id) {
      return trace->is_span(id) && trace::is_call(trace->category[id]);
    });
    auto columns = basic_columns(self, rows);
    add_lane_columns(self, rows, "pid", "tid", columns);
    columns.push_back(
        integer(rows, "correlation", [trace](EventId id) { return trace->correlation[id]; }));
    columns.push_back(column(rows, "op", Type::kInteger,
                             [tables](EventId id) { return id_cell(tables->links_.op[id]); }));
    columns.push_back(column(rows, "step", Type::kInteger, [tables](EventId id) {
      return tables->step_cell(tables->trace_.ts_ns[id]);
    }));
    return table("launches", rows, std::move(columns));
  }

  static Table steps(const Self& self) {
    return step_table("steps", self, [self]() -> auto& { return self->marked_steps(); });
  }

  static Table annotations(const Self& self) {
    auto rows = std::make_shared<std::vector<StepModel>>();
    for (const StepGroup& group : self->models_.annotations()) {
      rows->insert(rows->end(), group.steps.begin(), group.steps.end());
    }
    std::sort(rows->begin(), rows->end(),
              [](const StepModel& a, const StepModel& b) { return a.event < b.event; });
    return step_table("annotations", self, [rows]() -> auto& { return *rows; });
  }

  // Steps or annotations, with their measures.
  template <typename Rows>
  static Table step_table(const char* name, const Self& self, const Rows& rows) {
    const auto column = [&](std::string title, Type type, auto value) {
      return Column{std::move(title), type,
                    [rows, value](size_t row) { return value(rows()[row]); }};
    };
    std::vector<Column> columns = {
        column("id", Type::kInteger,
               [](const StepModel& step) { return Cell(int64_t{step.event}); }),
        column("name", Type::kText, [](const StepModel& step) { return Cell(step.name); }),
        column("ts_ns", Type::kInteger,
               [](const StepModel& step) { return Cell(step.host.begin); }),
        column("dur_ns", Type::kInteger, [](const StepModel& step) { return Cell(step.cpu_ns); })};
    report::for_each_member<StepModel>([&](const auto& member) {
      if (is_event_column(member.key)) return;
      columns.push_back(
          column(member_name(member), member_type(member),
                 [&member](const StepModel& step) { return cell_of(member.of(step)); }));
    });
    Table result{name, [rows] { return rows().size(); }, std::move(columns), {}};
    // Steps are ordered by time, which can differ from the order in the file.
    const auto by_event = [](const StepModel& a, const StepModel& b) { return a.event < b.event; };
    if (std::is_sorted(rows().begin(), rows().end(), by_event)) {
      result.first_key = [rows](size_t row) { return static_cast<int64_t>(rows()[row].event); };
    }
    result.owner = self;
    return result;
  }

  struct Argument {
    EventId event;
    std::string_view key;
    std::string_view value;
  };

  // A trace has many arguments, so their rows are built when the table is first read.
  const std::vector<Argument>& arguments() const {
    return arguments_.get([&] {
      std::vector<Argument> arguments;
      for (EventId id = 0; id < trace_.size(); ++id) {
        for (const auto& [key, value] : trace::object_members(trace_.args_of(id))) {
          arguments.push_back({id, key, value});
        }
      }
      return arguments;
    });
  }

  static Table args(const Self& self) {
    const auto column = [&](const char* name, Type type, auto value) {
      return Column{name, type,
                    [self, value](size_t row) -> Cell { return value(self->arguments()[row]); }};
    };
    return {"args",
            [self] { return self->arguments().size(); },
            {column("event", Type::kInteger, [](const Argument& a) { return id_cell(a.event); }),
             column("key", Type::kText, [](const Argument& a) { return a.key; }),
             column("value", Type::kAny, [](const Argument& a) { return argument_cell(a.value); })},
            [self](size_t row) { return static_cast<int64_t>(self->arguments()[row].event); }};
  }

  static Table frames(const Self& self) {
    const Rows rows = rows_where(self, [&](EventId id) {
      return self->trace_.is_span(id) && self->trace_.category[id] == Category::kPythonFunction;
    });
    auto columns = basic_columns(self, rows);
    add_lane_columns(self, rows, "pid", "tid", columns);
    const auto parents = std::make_shared<const std::vector<EventId>>(
        rows->empty() ? std::vector<EventId>() : trace::python_parents(self->trace_));
    columns.push_back(column(rows, "parent", Type::kInteger,
                             [parents](EventId id) { return id_cell((*parents)[id]); }));
    return table("frames", rows, std::move(columns));
  }

  static Table collectives(const Self& self) {
    const auto rows =
        std::make_shared<const std::vector<Collective>>(analysis::collectives(self->index_));
    const auto column = [&](const char* name, Type type, auto value) {
      return Column{name, type, [rows, value](size_t row) -> Cell { return value((*rows)[row]); }};
    };
    const auto optional = [](const std::optional<int64_t>& number) {
      return number ? Cell(*number) : Cell();
    };
    const Tables* tables = self.get();
    const trace::Trace* trace = &self->trace_;
    return {
        "collectives",
        [rows] { return rows->size(); },
        {column("id", Type::kInteger, [](const Collective& c) { return id_cell(c.kernel); }),
         column("kind", Type::kText, [](const Collective& c) { return std::string_view(c.kind); }),
         column("process_group", Type::kText,
                [](const Collective& c) {
                  return c.group.empty() ? Cell() : Cell(std::string_view(c.group));
                }),
         column("group_size", Type::kInteger,
                [optional](const Collective& c) { return optional(c.group_size); }),
         column("position", Type::kInteger, [](const Collective& c) { return Cell(c.position); }),
         column("in_bytes", Type::kInteger,
                [optional](const Collective& c) { return optional(c.in_bytes); }),
         column("out_bytes", Type::kInteger,
                [optional](const Collective& c) { return optional(c.out_bytes); }),
         column("ts_ns", Type::kInteger,
                [trace](const Collective& c) { return Cell(trace->ts_ns[c.kernel]); }),
         column("dur_ns", Type::kInteger,
                [trace](const Collective& c) { return Cell(trace->dur_ns[c.kernel]); }),
         column("op", Type::kInteger,
                [tables](const Collective& c) { return id_cell(tables->links_.op[c.kernel]); }),
         column("step", Type::kInteger,
                [tables](const Collective& c) {
                  return tables->step_cell(tables->links_.launch_ns[c.kernel]);
                })},
        {}};
  }

  const analysis::StepModels& models_;
  const TraceIndex& index_;
  const trace::Trace& trace_;
  const trace::Links& links_;
  Lazy<std::vector<Argument>> arguments_;
};

}  // namespace

std::vector<Table> tables(const analysis::StepModels& models) {
  const auto shared = std::make_shared<const Tables>(models);
  std::vector<Table> tables;
  for (const Tables::Maker& maker : Tables::makers()) tables.push_back(Tables::make(maker, shared));
  return tables;
}

std::optional<Table> table(const analysis::StepModels& models, std::string_view name) {
  for (const Tables::Maker& maker : Tables::makers()) {
    if (maker.name == name) return Tables::make(maker, std::make_shared<const Tables>(models));
  }
  return std::nullopt;
}

std::vector<std::string_view> table_names() {
  std::vector<std::string_view> names;
  for (const Tables::Maker& maker : Tables::makers()) names.push_back(maker.name);
  return names;
}

}  // namespace epi::sql
