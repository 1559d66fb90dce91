// SPDX-License-Identifier: Apache-2.0
#include "tests/trace/rank_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

namespace epi::trace {
namespace {

constexpr double kLaunchNs = 8000;  // from the call to the start of its work
constexpr double kStepPauseNs = 50'000;
constexpr const char* kBase = "1700000000000000000";

// Writes the events of one rank by its own clock.
class RankWriter {
 public:
  RankWriter(const RankJob& job, size_t rank, const WritePiece& write)
      : job_(job),
        rank_(rank),
        write_(write),
        file_(rank < job.files.size() ? job.files[rank] : RankFile{}) {
    text_ = fmt::format(
        "{{\"schemaVersion\": 1, \"baseTimeNanoseconds\": {}, \"displayTimeUnit\": \"ms\",\n"
        "\"deviceProperties\": [{{\"id\": 0, \"name\": \"NVIDIA H200\"}}],\n"
        "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n"
        "\"traceEvents\": [\n",
        kBase, rank, job.ranks);
  }

  void host(const char* category, std::string_view name, double begin, double end,
            std::string_view args = "") {
    event(category, name, "1, \"tid\": 1", begin, end, args);
  }
  // Device work, and the call that launches it.
  void work(const char* category, std::string_view name, int stream, double begin, double end,
            std::string_view args = "") {
    ++correlation_;
    const bool is_kernel = std::string_view(category) == "kernel";
    host("cuda_runtime", is_kernel ? "cudaLaunchKernel" : "cudaMemcpyAsync", begin - kLaunchNs,
         begin - kLaunchNs / 2, fmt::format("\"correlation\": {}", correlation_));
    event(category, name, fmt::format("0, \"tid\": {}", stream), begin, end,
          fmt::format("\"device\": 0, \"stream\": {}, \"correlation\": {}{}{}", stream,
                      correlation_, args.empty() ? "" : ", ", args));
  }
  void set_step(int step) {
    is_in_file_ = step >= file_.first_step && step < job_.steps - file_.steps_cut;
  }
  const RankFile& file() const { return file_; }
  void finish() { write_(rank_, text_ + "\n]}\n"); }

 private:
  void event(const char* category, std::string_view name, std::string_view place, double begin,
             double end, std::string_view args) {
    if (!is_in_file_) return;
    const auto local = [&](double ns) {
      return static_cast<int64_t>(ns * (1 + file_.clock_drift) + file_.clock_offset_ns);
    };
    const int64_t from = local(begin);
    const int64_t dur = std::max<int64_t>(local(end) - from, 1);
    fmt::format_to(std::back_inserter(text_),
                   "{}{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, "
                   "\"ts\": {}.{:03}, \"dur\": {}.{:03}, \"args\": {{{}}}}}",
                   is_first_ ? "" : ",\n", category, name, place, from / 1000, from % 1000,
                   dur / 1000, dur % 1000, args);
    is_first_ = false;
    constexpr size_t kPieceBytes = 1 << 20;
    if (text_.size() < kPieceBytes) return;
    write_(rank_, text_);
    text_.clear();
  }

  const RankJob& job_;
  size_t rank_;
  const WritePiece& write_;
  RankFile file_;
  std::string text_;
  int64_t correlation_ = 0;
  bool is_in_file_ = true;
  bool is_first_ = true;
};

class Simulation {
 public:
  Simulation(const RankJob& job, const WritePiece& write) : job_(job), random_(job.seed) {
    for (size_t rank = 0; rank < job.ranks; ++rank) writers_.emplace_back(job, rank, write);
  }

  void run() {
    std::vector<double> free(job_.ranks, 1e9);  // when the device of each rank is free
    for (int step = 0; step < job_.steps; ++step) {
      const std::vector<double> begin = free;
      for (size_t rank = 0; rank < job_.ranks; ++rank) writers_[rank].set_step(step);
      for (int i = 0; i < job_.collectives; ++i) communicate(free);
      for (size_t rank = 0; rank < job_.ranks; ++rank) {
        writers_[rank].host("user_annotation", fmt::format("ProfilerStep#{}", step + 1),
                            begin[rank] - 2 * kLaunchNs, free[rank]);
        free[rank] += kStepPauseNs;
      }
    }
    for (RankWriter& writer : writers_) writer.finish();
  }

 private:
  // All ranks compute, and take part in a collective that begins when the last one arrives.
  void communicate(std::vector<double>& free) {
    std::vector<double> arrival;
    for (size_t rank = 0; rank < job_.ranks; ++rank) arrival.push_back(compute(rank, free[rank]));
    const double transfer = static_cast<double>(job_.bytes) / job_.bytes_per_ns * job_.slow_link;
    const double end = *std::max_element(arrival.begin(), arrival.end()) + transfer;
    for (size_t rank = 0; rank < job_.ranks; ++rank) {
      free[rank] = end + std::abs(normal_(random_)) * job_.end_sigma_ns;
      RankWriter& writer = writers_[rank];
      if (uniform_(random_) < writer.file().lost_share) continue;
      const std::string args =
          job_.records_groups
              ? fmt::format(
                    "\"Collective name\": \"allreduce\", \"In msg nelems\": {0}, "
                    "\"Out msg nelems\": {0}, \"Group size\": {1}, \"dtype\": \"Float\", "
                    "\"Process Group Name\": \"0\"",
                    job_.bytes / 4, job_.ranks)
              : "";
      writer.host("cpu_op", "c10d::allreduce_", arrival[rank] - 1.5 * kLaunchNs, arrival[rank]);
      writer.host("cpu_op", "record_param_comms", arrival[rank] - 1.4 * kLaunchNs, arrival[rank],
                  args);
      writer.work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, arrival[rank],
                  free[rank]);
    }
  }

  // Returns when the rank arrives at its next collective.
  double compute(size_t rank, double from) {
    RankWriter& writer = writers_[rank];
    double at = from;
    double longer = 0;
    for (const LateRank& late : job_.late) {
      if (late.rank != rank || uniform_(random_) >= late.share) continue;
      switch (late.by) {
        case LateBy::kKernel:
          longer = late.delay_ns;
          break;
        case LateBy::kCopy:
          writer.work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, at, at + late.delay_ns);
          at += late.delay_ns;
          break;
        case LateBy::kLoading:
          wait(writer, "user_annotation",
               "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", late, at);
          break;
        case LateBy::kSynchronizing:
          wait(writer, "cuda_runtime", "cudaDeviceSynchronize", late, at);
          break;
        case LateBy::kHost:
          wait(writer, "cpu_op", "aten::index", late, at);
          break;
      }
    }
    const double mean = job_.kernel_ns * job_.kernels;
    const double jitter = std::max(normal_(random_) * job_.arrival_sigma_ns, -0.9 * mean);
    for (int i = 0; i < job_.kernels; ++i) {
      const bool is_last = i + 1 == job_.kernels;
      const double end = at + job_.kernel_ns + jitter / job_.kernels + (is_last ? longer : 0);
      writer.host("cpu_op", "aten::mm", at - 1.2 * kLaunchNs, at - 0.4 * kLaunchNs);
      writer.work("kernel", is_last ? "backward_kernel" : "nvjet_hsh_128x256_64x4_TNT", 7, at, end);
      at = end;
    }
    return at;
  }

  // The device is idle while the host does something else.
  static void wait(RankWriter& writer, const char* category, const char* name, const LateRank& late,
                   double& at) {
    writer.host(category, name, at - 0.5 * kLaunchNs, at + late.delay_ns - 1.3 * kLaunchNs);
    at += late.delay_ns;
  }

  const RankJob& job_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  std::vector<RankWriter> writers_;
};

}  // namespace

void make_rank_job(const RankJob& job, const WritePiece& write) { Simulation(job, write).run(); }

std::vector<std::string> make_rank_job(const RankJob& job) {
  std::vector<std::string> texts(job.ranks);
  make_rank_job(job, [&](size_t rank, const std::string& piece) { texts[rank] += piece; });
  return texts;
}

}  // namespace epi::trace
