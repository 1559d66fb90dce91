// SPDX-License-Identifier: Apache-2.0
// The data of the page's sections: computed once, then written as JSON, possibly several times with
// fewer rows. Sentences and tables are those of the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/compare/compare.h"
#include "epilogue/analysis/overview/overview.h"
#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/analysis/step/breakdown.h"
#include "epilogue/analysis/time/gemms.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/page/page_timeline.h"
#include "epilogue/report/page/page_trace.h"

namespace epi::report {

struct PageFile {
  std::string file;
  const analysis::StepModels& models;
  analysis::Overview screen;
  analysis::ProfilerTable table;
  std::vector<analysis::DeviceBreakdown> devices;
  std::vector<PageDevice> idle;  // of each device
  analysis::GemmTable gemms;
};

struct PageData {
  std::vector<PageFile> files;
  std::optional<analysis::Comparison> comparison;  // if there are two files
};

PageData page_data(const std::vector<PageTrace>& traces);

// Writes the object of one file. Tables have at most `rows` rows. Events are referred to by their
// place in the timeline.
void file_json(JsonWriter& json, const PageFile& file, const EventPlaces& places, size_t rows);
// Writes the members `verdict`, `kernels` and `groups` of an open object: what differs between two
// files.
void differences_json(JsonWriter& json, const PageData& data, size_t rows);
// Writes the members `idle` and `kinds` of an open object: the words for the page's colors.
void legend_json(JsonWriter& json);
// The step of each file that its tree shows: the diagnosed one. For two files with as many steps,
// the pair with the largest difference in GPU work, if their work differs.
std::vector<size_t> steps_of_trees(const PageData& data);
// The tree of a step, with repeated layers folded, as a JSON object.
std::string tree_json(const PageFile& file, size_t step, const EventPlaces& places);

}  // namespace epi::report
