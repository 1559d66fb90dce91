// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/cupti_reader.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "epilogue/profile/gpu_names.h"

namespace epi::profile {
namespace {

// Indexed by CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, with Kineto's spelling.
constexpr auto kCopyDirections = std::to_array<std::string_view>(
    {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"});
constexpr auto kMemoryKinds =
    std::to_array<std::string_view>({"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed",
                                     "Device Static", "Managed Static"});

template <size_t kCount>
std::string_view text_of(const std::array<std::string_view, kCount>& texts, size_t place) {
  return place < kCount ? texts[place] : texts[0];
}

const char* overhead_name(CUpti_ActivityOverheadKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "Driver Compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "Buffer Flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "Instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "Resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "Runtime Triggered Module Loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "Lazy Function Loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "Command Buffer Full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "Activity Buffer Request";
    default:
      return "Unknown";
  }
}

// Fills the fields that all records of GPU work have.
template <typename Record>
GpuWork work_of(WorkKind kind, trace::NameId name, const Record& record) {
  return {.kind = kind,
          .name = name,
          .device = record.deviceId,
          .context = record.contextId,
          .stream = record.streamId,
          .correlation = record.correlationId,
          .graph_id = record.graphId,
          .graph_node_id = record.graphNodeId,
          .start_ns = static_cast<int64_t>(record.start),
          .end_ns = static_cast<int64_t>(record.end)};
}

template <typename Record>
const Record& as(const CUpti_Activity* record) {
  return *reinterpret_cast<const Record*>(record);
}

}  // namespace

void CuptiReader::read(uint8_t* buffer, size_t size_bytes) {
  CUpti_Activity* record = nullptr;
  while (cupti_.activity_get_next_record(buffer, size_bytes, &record) == CUPTI_SUCCESS) {
    add(record);
  }
}

void CuptiReader::add(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return add_call(as<CUpti_ActivityAPI>(record));
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(as<CUpti_ActivityKernel10>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_memcpy(as<CUpti_ActivityMemcpy6>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_memset(as<CUpti_ActivityMemset4>(record));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return add_launch(as<CUpti_ActivityExternalCorrelation>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(as<CUpti_ActivityOverhead3>(record));
    default:
      return;
  }
}

void CuptiReader::add_call(const CUpti_ActivityAPI& api) {
  const bool driver = api.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  records_.calls.push_back({.name = call_name(driver, api.cbid),
                            .driver = driver,
                            .cbid = api.cbid,
                            .correlation = api.correlationId,
                            .tid = api.threadId,
                            .start_ns = static_cast<int64_t>(api.start),
                            .end_ns = static_cast<int64_t>(api.end)});
}

void CuptiReader::add_kernel(const CUpti_ActivityKernel10& kernel) {
  GpuWork work = work_of(WorkKind::kKernel, kernel_name_of(kernel.name), kernel);
  work.shape = {kernel.registersPerThread,
                int64_t{kernel.staticSharedMemory} + kernel.dynamicSharedMemory,
                {kernel.gridX, kernel.gridY, kernel.gridZ},
                {kernel.blockX, kernel.blockY, kernel.blockZ}};
  add_work(work);
}

void CuptiReader::add_memcpy(const CUpti_ActivityMemcpy6& memcpy) {
  const auto name = records_.names.intern(
      fmt::format("Memcpy {} ({} -> {})", text_of(kCopyDirections, memcpy.copyKind),
                  text_of(kMemoryKinds, memcpy.srcKind), text_of(kMemoryKinds, memcpy.dstKind)));
  GpuWork work = work_of(WorkKind::kMemcpy, name, memcpy);
  work.bytes = static_cast<int64_t>(memcpy.bytes);
  add_work(work);
}

void CuptiReader::add_memset(const CUpti_ActivityMemset4& memset) {
  const auto name =
      records_.names.intern(fmt::format("Memset ({})", text_of(kMemoryKinds, memset.memoryKind)));
  GpuWork work = work_of(WorkKind::kMemset, name, memset);
  work.bytes = static_cast<int64_t>(memset.bytes);
  add_work(work);
}

// CUPTI writes 0 for a time that it could not determine, for example of work that had not ended.
void CuptiReader::add_work(const GpuWork& work) {
  if (work.start_ns == 0 || work.end_ns == 0) {
    ++records_.dropped;
  } else {
    records_.work.push_back(work);
  }
}

void CuptiReader::add_launch(const CUpti_ActivityExternalCorrelation& pair) {
  if (pair.externalKind != kLaunchCorrelationKind) return;  // pushed by another tool
  records_.launches.push_back({pair.correlationId, pair.externalId});
}

void CuptiReader::add_overhead(const CUpti_ActivityOverhead3& overhead) {
  const bool of_thread = overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
  records_.overheads.push_back({.name = records_.names.intern(overhead_name(overhead.overheadKind)),
                                .tid = of_thread ? overhead.objectId.pt.threadId : 0,
                                .start_ns = static_cast<int64_t>(overhead.start),
                                .end_ns = static_cast<int64_t>(overhead.end)});
}

trace::NameId CuptiReader::call_name(bool driver, uint32_t cbid) {
  const auto [place, is_new] = call_names_.try_emplace({driver, cbid}, 0);
  if (!is_new) return place->second;
  const char* name = nullptr;
  cupti_.get_callback_name(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, cbid,
                           &name);
  return place->second = records_.names.intern(
             name != nullptr ? api_name(name) : fmt::format("unknown function {}", cbid));
}

trace::NameId CuptiReader::kernel_name_of(const char* name) {
  const std::string_view text = name != nullptr ? name : "";
  if (const auto known = kernel_names_.find(text); known != kernel_names_.end()) {
    return known->second;
  }
  const auto id = records_.names.intern(kernel_name(name));
  kernel_names_.emplace(text, id);
  return id;
}

}  // namespace epi::profile
