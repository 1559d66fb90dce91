// SPDX-License-Identifier: Apache-2.0
// Writes the traces of a generated job (tests/trace/rank_job.h) into a folder.
//   make_ranks FOLDER [ranks=8] [steps=10] [collectives=2] [kernels=4] [seed=0] [slow_link=1]
//              [late=RANK:MICROSECONDS:kernel|copy|loading|sync|host[:SHARE]]...
//              [file=RANK:CLOCK_MICROSECONDS:DRIFT_PPM:FIRST_STEP:STEPS_CUT:LOST_SHARE]...
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/trace/rank_job.h"

namespace epi::trace {
namespace {

[[noreturn]] void refuse(const std::string& word) {
  fmt::print(stderr, "make_ranks: {}: see the head of bench/make_ranks.cpp\n", word);
  std::exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  return parts;
}

double number(const std::string& word, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') refuse(word);
  return value;
}

LateRank late_of(const std::string& word, const std::string& value) {
  static const std::map<std::string, LateBy> kCauses = {{"kernel", LateBy::kKernel},
                                                        {"copy", LateBy::kCopy},
                                                        {"loading", LateBy::kLoading},
                                                        {"sync", LateBy::kSynchronizing},
                                                        {"host", LateBy::kHost}};
  const auto parts = split(value);
  if (parts.size() < 3 || !kCauses.contains(parts[2])) refuse(word);
  return {static_cast<size_t>(number(word, parts[0])), 1000 * number(word, parts[1]),
          kCauses.at(parts[2]), parts.size() > 3 ? number(word, parts[3]) : 1};
}

void add_file(const std::string& word, const std::string& value, RankJob& job) {
  const auto parts = split(value);
  if (parts.size() != 6) refuse(word);
  const auto rank = static_cast<size_t>(number(word, parts[0]));
  if (job.files.size() <= rank) job.files.resize(rank + 1);
  job.files[rank] = {1000 * number(word, parts[1]), 1e-6 * number(word, parts[2]),
                     static_cast<int>(number(word, parts[3])),
                     static_cast<int>(number(word, parts[4])), number(word, parts[5])};
}

void set(const std::string& word, RankJob& job) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) refuse(word);
  const std::string key = word.substr(0, equals);
  const std::string value = word.substr(equals + 1);
  if (key == "late") {
    job.late.push_back(late_of(word, value));
  } else if (key == "file") {
    add_file(word, value, job);
  } else if (key == "ranks") {
    job.ranks = static_cast<size_t>(number(word, value));
  } else if (key == "steps") {
    job.steps = static_cast<int>(number(word, value));
  } else if (key == "collectives") {
    job.collectives = static_cast<int>(number(word, value));
  } else if (key == "kernels") {
    job.kernels = static_cast<int>(number(word, value));
  } else if (key == "seed") {
    job.seed = static_cast<uint64_t>(number(word, value));
  } else if (key == "slow_link") {
    job.slow_link = number(word, value);
  } else {
    refuse(word);
  }
}

int run(int count, char** words) {
  if (count < 2) refuse("a folder is needed");
  RankJob job;
  for (int i = 2; i < count; ++i) set(words[i], job);
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  std::vector<std::ofstream> files;
  for (size_t rank = 0; rank < job.ranks; ++rank) {
    files.emplace_back(folder / fmt::format("rank{:04}.json", rank), std::ios::binary);
  }
  make_rank_job(job, [&](size_t rank, const std::string& piece) { files[rank] << piece; });
  for (std::ofstream& file : files) {
    if (!file.flush()) refuse("cannot write into the folder");
  }
  return 0;
}

}  // namespace
}  // namespace epi::trace

int main(int count, char** words) { return epi::trace::run(count, words); }
