// SPDX-License-Identifier: Apache-2.0
// `epilogue tour`: from a matmul and an add to a fused MLP in ten lessons. Each says what to expect
// and why, runs, records, checks the guess with the rules of `expect`, and shows what was found.
#include "epilogue/cli/tour/tour.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/base/output_file.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/run/paid_back.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/report/page.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"

namespace epi::cli {
namespace {

constexpr size_t kWidth = 80;

struct TourFlags {
  std::string device = "auto";
  std::string out = "epilogue-tour";
  bool quick = false;
  bool json = false;
};

std::string found_text(const analysis::RuleResult& result) {
  if (!result.found) {
    const std::string note = report::rule_note_text(result);
    return note.empty() ? "" : "  (" + note + ")";
  }
  const double found = *result.found;
  switch (result.rule.unit) {
    case analysis::Unit::kNanoseconds:
      return fmt::format("  (found {})", report::time_text(found));
    case analysis::Unit::kBytes:
      return fmt::format("  (found {})", report::bytes_text(found));
    default:
      return fmt::format("  (found {:g})", found);
  }
}

void print_lesson(const Lesson& lesson, size_t number) {
  fmt::print("{}. {}\n{}\n", number, lesson.title, report::indented(lesson.expectation, 3, kWidth));
}

// "31.2 us on the CPU and 4.1 us in kernels, the limit is host dispatch and launches"
std::string lanes_text(const LessonResult& result) {
  const char* limit =
      result.limiter == analysis::Limiter::kGpu ? "kernels" : report::phrase_of(result.limiter);
  return fmt::format("{} on the CPU and {} in kernels, the limit is {}",
                     report::time_text(result.cpu_ns), report::time_text(result.kernel_ns), limit);
}

std::string occupancy_text(const OccupancyQueries& queries) {
  return fmt::format(
      "{} before the launch, by {}: the library asks how many blocks fit on the GPU to choose a "
      "kernel; a pointwise operator just launches",
      report::plural(static_cast<double>(queries.count), queries.name.c_str()),
      join(queries.ops, ", "));
}

void print_outcome(const Lesson& lesson, const LessonResult& result) {
  for (const auto& rule : result.rules) {
    fmt::print("   {}  {}{}\n", rule.ok ? "as guessed  " : "OTHERWISE   ", rule.rule.text,
               rule.ok ? "" : found_text(rule));
  }
  for (size_t i = 0; i < result.kernels.size(); ++i) {
    if (lesson.raw_names) {
      fmt::print("   > {}\n     {}\n", result.kernel_names[i], result.kernels[i]);
    } else {
      fmt::print("   > {}\n", result.kernels[i]);
    }
  }
  if (result.occupancy.count > 0) {
    fmt::print("{}\n", report::indented(occupancy_text(result.occupancy), 3, kWidth));
  }
  fmt::print("{}\n\n", report::indented(
                           fmt::format("recorded: {} ({})", lanes_text(result), result.trace_path),
                           3, kWidth));
}

std::string paid_text(const LessonResult& result) {
  return result.saving ? paid_back(result.first_call_ns, *result.saving).text() : "-";
}

std::string table_text(const std::vector<LessonResult>& results) {
  using report::Align;
  report::Table table({{"", Align::kLeft},
                       {"kern", Align::kRight},
                       {"moved", Align::kRight},
                       {"CPU", Align::kRight},
                       {"device", Align::kRight},
                       {"wall", Align::kRight},
                       {"first", Align::kRight},
                       {"paid", Align::kRight}});
  for (const LessonResult& result : results) {
    table.add_row(
        {result.mode, fmt::format("{}", result.kernel_count),
         report::bytes_text(static_cast<double>(result.bytes)), report::time_text(result.cpu_ns),
         report::time_text(result.kernel_ns), report::time_text(result.wall_ns),
         result.saving ? report::time_text(result.first_call_ns) : "-", paid_text(result)});
  }
  return table.text();
}

void print_sentences(const char* title, const std::vector<std::string>& sentences) {
  fmt::print("{}\n", title);
  for (const std::string& sentence : sentences) {
    fmt::print("- {}\n", report::indented(sentence, 2, kWidth).substr(2));
  }
  fmt::print("\n");
}

void print_shapes_expectation(size_t number) {
  fmt::print(
      "{}. Compile, or take a prebuilt kernel?\n{}\n", number,
      report::indented(
          "Three batches, one after the other. A compiler that fixes every size compiles for "
          "each; one that leaves the rows free compiles once; a package never compiles, and "
          "its kernel is made for no shape in particular.",
          3, kWidth));
}

std::string overtakes_text(const PaidBack& overtakes) {
  if (overtakes.forwards) {
    return fmt::format(
        "Compiled code, rows free, is ahead of the prebuilt kernel after {} forwards. Fewer, or a "
        "process that must answer at once: prebuilt. More of one block: compile.",
        overtakes.text());
  }
  if (overtakes.is_sure) return "The prebuilt kernel is faster here from the first forward on.";
  return "Turns do not agree whether compiled code or the prebuilt kernel is faster here. The "
         "first calls differ: the prebuilt kernel is the cheaper start.";
}

void print_shapes(const ShapeLesson& shapes) {
  using report::Align;
  report::Table table({{fmt::format(" batches {}", shapes.batches), Align::kLeft},
                       {"compiled", Align::kRight},
                       {"first calls", Align::kRight},
                       {"a forward", Align::kRight}});
  for (const ShapeCost& cost : shapes.costs) {
    table.add_row({" " + cost.mode, fmt::format("{}", cost.compiled),
                   report::time_text(cost.first_calls_ns), report::time_text(cost.wall_ns)});
  }
  fmt::print("{}{}\n\n", table.text(),
             report::indented(overtakes_text(shapes.overtakes), 3, kWidth));
}

std::string introduction(Device device) {
  const char* lanes = device == kCpu
                          ? "operators, and the kernels that they call"
                          : "the CPU calls operators and launches kernels, the GPU runs them";
  return fmt::format(
      "From a matmul and an add to a fused MLP, on {}. Each lesson guesses first, then looks: at a "
      "trace of "
      "21 forwards, recorded once all is warm. It has two lanes: {}. The table of a trace tells "
      "what takes the time; when, and why, the trace itself.",
      device_text(device), lanes);
}

const LessonResult& result_of(const std::vector<LessonResult>& results, std::string_view mode) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const LessonResult& result) { return result.mode == mode; });
  if (found == results.end()) throw BugError(fmt::format("no lesson is called {}", mode));
  return *found;
}

const Lesson& lesson_called(const std::vector<Lesson>& lessons, std::string_view mode) {
  const auto found = std::find_if(lessons.begin(), lessons.end(),
                                  [&](const Lesson& lesson) { return lesson.mode == mode; });
  if (found == lessons.end()) throw BugError(fmt::format("no lesson is called {}", mode));
  return *found;
}

std::string write_report(const std::vector<LessonResult>& results, const std::string& folder) {
  const LessonResult& eager = result_of(results, "mlp eager");
  const LessonResult& fused = result_of(results, "mlp epilogue");
  const analysis::TraceIndex before(eager.trace);
  const analysis::TraceIndex after(fused.trace);
  const std::string path = folder + "/report.html";
  const auto done =
      write_whole(path, report::page_html({{eager.trace_path, before}, {fused.trace_path, after}}));
  throw_if_failed(done);
  return path;
}

// None for never and for not sure.
void paid_back_json(JsonWriter& json, const PaidBack& paid) {
  paid.forwards ? json.integer(*paid.forwards) : json.null();
}

void result_json(JsonWriter& json, const LessonResult& result) {
  json.begin_object().key("mode").string(result.mode);
  json.key("kernels_per_forward").integer(result.kernel_count);
  json.key("bytes_per_forward").integer(result.bytes);
  json.key("cpu_us").fixed(result.cpu_ns / 1000, 3);
  json.key("gpu_us").fixed(result.kernel_ns / 1000, 3);
  json.key("wall_us").fixed(result.wall_ns / 1000, 3);
  json.key("first_call_us");
  result.saving ? json.fixed(result.first_call_ns / 1000, 3) : json.null();
  json.key("saves_us");
  if (result.saving) {
    json.begin_object().key("median").fixed(result.saving->median / 1000, 3);
    json.key("p10").fixed(result.saving->p10 / 1000, 3);
    json.key("p90").fixed(result.saving->p90 / 1000, 3).end_object();
  } else {
    json.null();
  }
  json.key("pays_back_after");
  const auto paid = result.saving ? paid_back(result.first_call_ns, *result.saving) : PaidBack{};
  paid_back_json(json, paid);
  json.key("pays_back_is_sure");
  result.saving ? json.boolean(paid.is_sure) : json.null();
  json.key("trace").string(result.trace_path).key("rules").begin_array();
  for (const auto& rule : result.rules) {
    json.begin_object().key("rule").string(rule.rule.text).key("ok").boolean(rule.ok);
    json.key("found");
    rule.found ? json.fixed(*rule.found, 3) : json.null();
    json.end_object();
  }
  json.end_array().end_object();
}

void shapes_json(JsonWriter& json, const ShapeLesson& shapes) {
  json.key("changing_batches").begin_object().key("batches").string(shapes.batches);
  json.key("modes").begin_array();
  for (const ShapeCost& cost : shapes.costs) {
    json.begin_object().key("mode").string(cost.mode);
    json.key("first_calls_us").fixed(cost.first_calls_ns / 1000, 3);
    json.key("compiled").integer(cost.compiled);
    json.key("wall_us").fixed(cost.wall_ns / 1000, 3).end_object();
  }
  json.end_array().key("compiled_overtakes_prebuilt_after");
  paid_back_json(json, shapes.overtakes);
  json.end_object();
}

void print_json(Device device, const std::vector<LessonResult>& results, const ShapeLesson& shapes,
                const std::string& report_path) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("device").string(device_text(device));
  json.key("modes").begin_array();
  for (const LessonResult& result : results) result_json(json, result);
  const auto sentences = [&](const char* key, const std::vector<std::string>& list) {
    json.key(key).begin_array();
    for (const std::string& sentence : list) json.string(sentence);
    json.end_array();
  };
  json.end_array();
  shapes_json(json, shapes);
  sentences("verdicts", tour_verdicts(results));
  sentences("advice", tour_advice(results));
  json.key("report").string(report_path).end_object();
  fmt::print("{}\n", json.text());
}

void make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) fail("tour", "--out {}: {}", folder, failed.message());
}

int tour(const TourFlags& flags) {
  RunFlags run;
  run.device = flags.device;
  const Device device = choose_device(run);
  make_folder(flags.out);
  if (!flags.json) {
    fmt::print("{}\n\n", report::wrapped(introduction(device), kWidth));
  }
  std::vector<LessonResult> results;
  const std::vector<Lesson> lessons = tour_lessons(flags.quick, device);
  for (size_t i = 0; i < lessons.size(); ++i) {
    if (!flags.json) print_lesson(lessons[i], i + 1);
    results.push_back(run_lesson(lessons[i], device, flags.out, results));
    if (!flags.json) print_outcome(lessons[i], results.back());
  }
  if (!flags.json) print_shapes_expectation(lessons.size() + 1);
  const ShapeLesson shapes = run_shapes(lesson_called(lessons, "mlp epilogue"),
                                        lesson_called(lessons, "mlp prebuilt"), device);
  if (!flags.json) print_shapes(shapes);
  time_in_turns(results, device);
  const std::string report_path = write_report(results, flags.out);
  if (flags.json) {
    print_json(device, results, shapes, report_path);
    return kDone;
  }
  fmt::print(
      "{}{}\n\n", table_text(results),
      report::wrapped("kern: kernels of a forward; CPU, device: recorded; wall: unrecorded, "
                      "the modes of a block in turns; first: what the first call adds; paid: "
                      "after how many forwards that is paid back (?: turns do not agree which "
                      "is faster)",
                      kWidth));
  print_sentences("What changed (`epilogue compare`):", tour_verdicts(results));
  print_sentences("What the eager traces say about compiling (`epilogue advise`):",
                  tour_advice(results));
  fmt::print("traces: {}\nthe page, eager beside fused: {}\n", flags.out, report_path);
  return kDone;
}

}  // namespace

void add_tour(Command& verb) {
  auto flags = std::make_shared<TourFlags>();
  verb.flag("--quick", flags->quick, "Smaller sizes: under a minute on two cores");
  verb.option("--device", flags->device, "auto, cpu or cuda").value_name("NAME");
  verb.option("--out", flags->out, "Where traces and the report go (epilogue-tour)")
      .value_name("DIR");
  verb.flag("--json", flags->json, "One JSON object on standard output");
  verb.run([flags] { return tour(*flags); });
}

}  // namespace epi::cli
