// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/bound.h"

#include "epilogue/analysis/cost/kernel_rate.h"

namespace epi::analysis {
namespace {

using trace::Category;

// Used if shapes are unknown.
bool is_typically_compute_bound(Kind kind) {
  return kind == Kind::kGemm || kind == Kind::kConv || kind == Kind::kAttention;
}

// "Memcpy HtoD (Pageable -> Device)", "CopyHostToDevice", "MemcpyDtoH"
bool is_host_copy(std::string_view copy) {
  for (const char* way : {"HtoD", "DtoH", "HostToDevice", "DeviceToHost"}) {
    if (copy.find(way) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

Bound bound_of(HostActivity activity) {
  switch (activity) {
    case HostActivity::kDispatch:
    case HostActivity::kGuards:
    case HostActivity::kBetweenOps:
      return Bound::kDispatch;
    case HostActivity::kLaunching:
      return Bound::kLaunches;
    case HostActivity::kHostWork:
      return Bound::kHostWork;
    case HostActivity::kAllocating:
      return Bound::kAllocating;
    case HostActivity::kInitializing:
      return Bound::kInitializing;
    case HostActivity::kSynchronizing:
      return Bound::kSynchronizing;
    case HostActivity::kDataLoading:
      return Bound::kInput;
    case HostActivity::kCompiling:
      return Bound::kCompiling;
  }
  return Bound::kDispatch;
}

Limiter limiter_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
    case Bound::kMemory:
    case Bound::kUnclassified:
      return Limiter::kGpu;
    case Bound::kCopies:
      return Limiter::kCopies;
    case Bound::kCommunication:
      return Limiter::kCommunication;
    case Bound::kDispatch:
    case Bound::kLaunches:
      return Limiter::kHost;
    case Bound::kHostWork:
      return Limiter::kHostWork;
    case Bound::kSynchronizing:
      return Limiter::kSynchronizing;
    case Bound::kInput:
      return Limiter::kInput;
    case Bound::kAllocating:
      return Limiter::kAllocating;
    case Bound::kInitializing:
      return Limiter::kInitializing;
    case Bound::kCompiling:
      return Limiter::kCompiling;
    case Bound::kNotInTrace:
      return Limiter::kNotInTrace;
  }
  return Limiter::kNotInTrace;
}

LimiterTimes by_limiter(const BoundTimes& bounds) {
  LimiterTimes times{};
  for (size_t i = 0; i < kBounds; ++i) {
    times[static_cast<size_t>(limiter_of(static_cast<Bound>(i)))] += bounds[i];
  }
  return times;
}

Bound typical_bound_of_work(const TraceIndex& index, trace::EventId work) {
  const Category category = index.trace.category[work];
  if (category != Category::kKernel) {
    const bool copy = category == Category::kGpuMemcpy;
    return copy && is_host_copy(index.trace.name_of(work)) ? Bound::kCopies : Bound::kMemory;
  }
  const Kind kind = index.names[index.trace.name[work]].kind;
  if (kind == Kind::kComm) return Bound::kCommunication;
  if (kind == Kind::kUnknown) return Bound::kUnclassified;
  return is_typically_compute_bound(kind) ? Bound::kCompute : Bound::kMemory;
}

Bound bound_of_work(const TraceIndex& index, trace::EventId work,
                    const std::optional<GpuPeaks>& peaks) {
  const Bound usual = typical_bound_of_work(index, work);
  if (usual == Bound::kUnclassified) {
    const KernelRate rate = kernel_rate(index, work, peaks);
    const auto arithmetic = rate.is_compute_bound();
    return !arithmetic ? usual : *arithmetic ? Bound::kCompute : Bound::kMemory;
  }
  if (usual != Bound::kCompute) return usual;
  // A GEMM with a higher share of bandwidth than of FLOP/s is memory-bound only if it moves its
  // bytes fast. One that is far from both peaks counts as compute-bound.
  constexpr double kFast = 0.4;
  const KernelRate rate = kernel_rate(index, work, peaks);
  const bool by_memory =
      rate.is_compute_bound() == false && rate.of_peak_bandwidth.value_or(0) >= kFast;
  return by_memory ? Bound::kMemory : Bound::kCompute;
}

}  // namespace epi::analysis
