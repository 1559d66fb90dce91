// SPDX-License-Identifier: Apache-2.0
// `epilogue tour`: from a matmul and an add to a fused MLP in ten lessons. Each lesson prints what
// to expect and why, runs and records a block, checks the expectation with rules of `expect`, and
// prints the result.
#include "epilogue/cli/tour/tour.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/join.h"
#include "epilogue/base/output_file.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/run/break_even.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/expect/expect_report.h"
#include "epilogue/report/page/page.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"
#include "epilogue/verbs/output_rules.h"

namespace epi::cli {
namespace {

constexpr size_t kWidth = 80;

struct TourFlags {
  std::string device = "auto";
  std::string out = "epilogue-tour";
  bool quick = false;
  bool json = false;
  bool force = false;
};

std::string found_text(const analysis::RuleResult& result) {
  if (!result.found) {
    const std::string note = report::rule_note_text(result);
    return note.empty() ? "" : "  (" + note + ")";
  }
  const double found = *result.found;
  switch (result.rule.unit) {
    case analysis::RuleUnit::kNanoseconds:
      return fmt::format("  (found {})", report::time_text(found));
    case analysis::RuleUnit::kBytes:
      return fmt::format("  (found {})", report::bytes_text(found));
    default:
      return fmt::format("  (found {:g})", found);
  }
}

void print_lesson(const Lesson& lesson, size_t number) {
  print_out("{}. {}\n{}\n", number, lesson.title, report::indented(lesson.expectation, 3, kWidth));
}

// "31.2 us on the CPU, 4.1 us in kernels, host-bound"
std::string lanes_text(const LessonResult& result, Device device) {
  const bool kernels_on_cpu = device == kCpu && result.limiter == analysis::Limiter::kGpu;
  return fmt::format(
      "{} on the CPU, {} in kernels, {}", report::time_text(result.cpu_ns),
      report::time_text(result.kernel_ns),
      kernels_on_cpu ? "kernel-bound" : report::words_of(result.limiter).brief_adjective);
}

std::string occupancy_text(const OccupancyQueries& queries) {
  return fmt::format(
      "{} ({}) in {}: to choose a kernel, the library queries how many thread blocks fit on an SM. "
      "Pointwise operators launch without a query.",
      queries.count == 1 ? "1 occupancy query" : fmt::format("{} occupancy queries", queries.count),
      queries.name, join(queries.ops, ", "));
}

void print_outcome(const Lesson& lesson, const LessonResult& result, Device device) {
  for (const auto& rule : result.rules) {
    print_out("   {}  {}{}\n", rule.ok ? "as expected" : "UNEXPECTED ", rule.rule.text,
              rule.ok ? "" : found_text(rule));
  }
  for (size_t i = 0; i < result.kernels.size(); ++i) {
    if (lesson.raw_names) {
      print_out("   > {}\n     {}\n", result.kernel_names[i], result.kernels[i]);
    } else {
      print_out("   > {}\n", result.kernels[i]);
    }
  }
  if (result.occupancy.count > 0) {
    print_out("{}\n", report::indented(occupancy_text(result.occupancy), 3, kWidth));
  }
  print_out("{}\n\n", report::indented(fmt::format("recorded: {} ({})", lanes_text(result, device),
                                                   result.trace_path),
                                       3, kWidth));
}

std::string break_even_text(const LessonResult& result) {
  return result.saving ? break_even(result.first_call_ns, *result.saving).text() : "-";
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
         result.saving ? report::time_text(result.first_call_ns) : "-", break_even_text(result)});
  }
  return table.text();
}

void print_sentences(const char* title, const std::vector<std::string>& sentences) {
  print_out("{}\n", title);
  for (const std::string& sentence : sentences) {
    print_out("- {}\n", report::indented(sentence, 2, kWidth).substr(2));
  }
  print_out("\n");
}

void print_shapes_expectation(size_t number) {
  print_out(
      "{}. Compiled code or a prebuilt kernel\n{}\n", number,
      report::indented(
          "Three batch sizes, one after the other. A compiler that fixes every size compiles once "
          "per size. One that leaves the rows free compiles once. A prebuilt kernel never "
          "compiles, but is not specialized for any shape.",
          3, kWidth));
}

std::string overtakes_text(const BreakEven& overtakes) {
  if (overtakes.forwards) {
    return fmt::format(
        "Compiled code with rows free overtakes the prebuilt kernel after {} forward{}. For fewer "
        "forwards, or if the first call must be fast, use the prebuilt kernel. For more, compile.",
        overtakes.text(), *overtakes.forwards == 1 ? "" : "s");
  }
  if (overtakes.is_conclusive)
    return "The prebuilt kernel is faster here, from the first forward on.";
  return "The rounds disagree on whether compiled code or the prebuilt kernel is faster here. The "
         "prebuilt kernel has the cheaper first calls.";
}

void print_shapes(const ShapeLesson& shapes) {
  using report::Align;
  report::Table table({{fmt::format(" batch sizes {}", shapes.batches), Align::kLeft},
                       {"compiles", Align::kRight},
                       {"first calls", Align::kRight},
                       {"per forward", Align::kRight}});
  for (const ShapeCost& cost : shapes.costs) {
    table.add_row({" " + cost.mode, fmt::format("{}", cost.compiled),
                   report::time_text(cost.first_calls_ns), report::time_text(cost.wall_ns)});
  }
  print_out("{}{}\n\n", table.text(),
            report::indented(overtakes_text(shapes.overtakes), 3, kWidth));
}

std::string introduction(Device device) {
  const char* lanes = device == kCpu
                          ? "operators, and the kernels they call"
                          : "the CPU calls operators and launches kernels, the GPU runs them";
  return fmt::format(
      "From a matmul and an add to a fused MLP, on {}. Each lesson states what to expect, then "
      "checks it in a trace of {} forwards recorded after warm-up. A trace has two lanes: {}. The "
      "profiler's table shows what takes the time, the trace shows when and why.",
      device_text(device), kRecordedForwards, lanes);
}

const LessonResult& find_result(const std::vector<LessonResult>& results, std::string_view mode) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const LessonResult& result) { return result.mode == mode; });
  if (found == results.end()) throw BugError(fmt::format("no lesson is named {}", mode));
  return *found;
}

const Lesson& find_lesson(const std::vector<Lesson>& lessons, std::string_view mode) {
  const auto found = std::find_if(lessons.begin(), lessons.end(),
                                  [&](const Lesson& lesson) { return lesson.mode == mode; });
  if (found == lessons.end()) throw BugError(fmt::format("no lesson is named {}", mode));
  return *found;
}

std::string write_report(const std::vector<LessonResult>& results, const std::string& folder) {
  const LessonResult& eager = find_result(results, "mlp eager");
  const LessonResult& fused = find_result(results, "mlp epilogue");
  const std::string path = folder + "/report.html";
  const auto done =
      write_file_atomically(path, report::page_html({{eager.trace_path, eager.loaded->models()},
                                                     {fused.trace_path, fused.loaded->models()}}));
  throw_if_failed(done);
  return path;
}

// Null for never and for not conclusive.
void break_even_json(JsonWriter& json, const BreakEven& even) {
  even.forwards ? json.integer(*even.forwards) : json.null();
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
  const auto even = result.saving ? break_even(result.first_call_ns, *result.saving) : BreakEven{};
  break_even_json(json, even);
  json.key("pays_back_is_sure");
  result.saving ? json.boolean(even.is_conclusive) : json.null();
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
  break_even_json(json, shapes.overtakes);
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
  print_out("{}\n", json.text());
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
    print_out("{}\n\n", report::wrapped(introduction(device), kWidth));
  }
  std::vector<LessonResult> results;
  const std::vector<Lesson> lessons = tour_lessons(flags.quick, device);
  for (const Lesson& lesson : lessons) {
    verbs::refuse_foreign_file("tour", trace_path(lesson, flags.out), verbs::Content::kTrace,
                               flags.force);
  }
  verbs::refuse_foreign_file("tour", flags.out + "/report.html", verbs::Content::kPage,
                             flags.force);
  for (size_t i = 0; i < lessons.size(); ++i) {
    if (!flags.json) print_lesson(lessons[i], i + 1);
    results.push_back(run_lesson(lessons[i], device, flags.out, results));
    if (!flags.json) print_outcome(lessons[i], results.back(), device);
  }
  if (!flags.json) print_shapes_expectation(lessons.size() + 1);
  const ShapeLesson shapes = run_shapes(find_lesson(lessons, "mlp epilogue"),
                                        find_lesson(lessons, "mlp prebuilt"), device);
  if (!flags.json) print_shapes(shapes);
  time_forwards(results, device);
  const std::string report_path = write_report(results, flags.out);
  if (flags.json) {
    print_json(device, results, shapes, report_path);
    return kDone;
  }
  print_out(
      "{}{}\n\n", table_text(results),
      report::wrapped("Per forward: kernels, bytes moved, recorded CPU and device time, wall time "
                      "without recording (interleaved rounds over the modes of a block). first: "
                      "extra time of the first call. paid: forwards until that time is recovered "
                      "(never: slower than eager, ?: rounds disagree on which is faster).",
                      kWidth));
  print_sentences("What changed (`epilogue compare`):", tour_verdicts(results));
  print_sentences("Advice on compiling, from the eager traces (`epilogue advise`):",
                  tour_advice(results));
  print_out("traces: {}\nreport, eager and fused side by side: {}\n", flags.out, report_path);
  return kDone;
}

}  // namespace

void add_tour(Command& verb) {
  auto flags = std::make_shared<TourFlags>();
  verb.add("--quick", flags->quick, "Smaller sizes: under a minute on two cores");
  verb.add("--device", flags->device, "Where it runs (auto)").value_name("auto|cpu|cuda");
  verb.add("--out", flags->out, "Folder for traces and report (epilogue-tour)").value_name("DIR");
  verb.add("--force", flags->force, "Replace files of other programs in that folder");
  verb.add("--json", flags->json, "One JSON object on standard output");
  verb.run([flags] { return tour(*flags); });
}

}  // namespace epi::cli
