// SPDX-License-Identifier: Apache-2.0
// Implements gpu_recorder.h with CUPTI activities. Buffers are kept as CUPTI fills them and are
// read at the end of the recording. Records from before a restart are recognized by their times.
#include "epilogue/profile/gpu_recorder.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "epilogue/base/clock.h"
#include "epilogue/base/result.h"
#include "epilogue/profile/cuda_driver.h"
#include "epilogue/profile/cupti_reader.h"

namespace epi::profile {
namespace {

// Holds more than ten thousand launches, at about 300 bytes of records per launch.
constexpr size_t kBufferBytes = size_t{4} << 20;
constexpr size_t kBufferAlignment = 8;  // required by CUPTI

struct Buffer {
  std::unique_ptr<uint8_t, void (*)(void*)> data;
  size_t size_bytes = 0;
};

struct State {
  std::atomic<bool> recording{false};
  const Cupti* cupti = nullptr;  // set before `recording`
  CUpti_SubscriberHandle subscriber = nullptr;
  std::string failure;
  std::mutex mutex;
  std::vector<Buffer> filled;  // guarded by `mutex`
};

// Never destroyed, because CUPTI's threads may deliver buffers while the process exits.
State& state() {
  static State* const made = new State;
  return *made;
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;  // without a buffer CUPTI counts dropped records
  *max_records = 0;
}

void CUPTIAPI take_buffer(CUcontext /*context*/, uint32_t /*stream*/, uint8_t* buffer,
                          size_t /*size*/, size_t valid_bytes) {
  Buffer filled{{buffer, std::free}, valid_bytes};
  if (valid_bytes == 0 || !state().recording.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(state().mutex);
  state().filled.push_back(std::move(filled));
}

std::vector<Buffer> take_filled() {
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().filled, {});
}

// Makes CUPTI use the same clock as the thread logs.
uint64_t CUPTIAPI timestamp() { return static_cast<uint64_t>(now_ns()); }

// No callback is enabled. Having a subscriber lets CUPTI tools detect each other.
void CUPTIAPI ignore_callback(void* /*data*/, CUpti_CallbackDomain /*domain*/,
                              CUpti_CallbackId /*id*/, const void* /*info*/) {}

Result<void> configure(const Cupti& cupti) {
  auto done = cupti.check("cuptiActivityRegisterTimestampCallback",
                          cupti.activity_register_timestamp_callback(timestamp));
  EPI_TRY(done);
  // The same thread ids as in the thread logs.
  done = cupti.check("cuptiSetThreadIdType",
                     cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  EPI_TRY(done);
  return cupti.check("cuptiActivityRegisterCallbacks",
                     cupti.activity_register_callbacks(give_buffer, take_buffer));
}

void disable_kinds(const Cupti& cupti) {
  for (const CUpti_ActivityKind kind : kRecordedKinds) cupti.activity_disable(kind);
  cupti.unsubscribe(state().subscriber);
}

Result<void> start() {
  const Result<Cupti>& loaded = cupti();
  EPI_TRY(loaded);
  state().cupti = &*loaded;
  auto done = loaded->check("cuptiSubscribe",
                            loaded->subscribe(&state().subscriber, ignore_callback, nullptr));
  EPI_TRY(done);
  done = configure(*loaded);
  for (const CUpti_ActivityKind kind : kRecordedKinds) {
    if (done) done = loaded->check("cuptiActivityEnable", loaded->activity_enable(kind));
  }
  if (!done) disable_kinds(*loaded);
  return done;
}

void stop() {
  state().recording.store(false, std::memory_order_release);
  disable_kinds(*state().cupti);
}

int64_t count_dropped(const Cupti& cupti) {
  size_t dropped = 0;
  cupti.activity_get_num_dropped_records(nullptr, 0, &dropped);
  return static_cast<int64_t>(dropped);
}

GpuRecords read_records(const Cupti& cupti) {
  GpuRecords records;
  CuptiReader reader(cupti, records);
  for (const Buffer& buffer : take_filled()) reader.read(buffer.data.get(), buffer.size_bytes);
  records.dropped += count_dropped(cupti);
  uint32_t version = 0;
  cupti.get_version(&version);
  if (const CudaDriver* driver = loaded_driver()) {
    records.devices = gpu_devices(*driver);
    records.versions = GpuVersions{driver_version(*driver), CUDART_VERSION, version};
  }
  return records;
}

}  // namespace

void begin_gpu_recording() {
  state().failure.clear();
  if (loaded_driver() == nullptr) return;
  if (const auto started = start(); !started) {
    state().failure = started.error().message;
    return;
  }
  take_filled();
  state().recording.store(true, std::memory_order_release);
}

// A program may use CUDA for the first time during warmup.
void restart_gpu_recording() {
  if (gpu_is_recording()) {
    take_filled();
  } else {
    begin_gpu_recording();
  }
}

void wait_for_gpus() {
  if (gpu_is_recording()) synchronize_gpus(*loaded_driver());
}

GpuRecords end_gpu_recording() {
  if (gpu_is_recording()) {
    state().cupti->activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    stop();
    return read_records(*state().cupti);
  }
  GpuRecords nothing;
  nothing.failure = state().failure;
  if (nothing.failure.empty() && loaded_driver() != nullptr) {
    nothing.failure = "CUDA was first used after the recording started";
  }
  return nothing;
}

void drop_gpu_recording() {
  if (!gpu_is_recording()) return;
  stop();
  take_filled();
}

bool gpu_is_recording() { return state().recording.load(std::memory_order_acquire); }

bool mark_launch(uint64_t id) {
  return state().cupti->activity_push_external_correlation_id(kLaunchCorrelationKind, id) ==
         CUPTI_SUCCESS;
}

void unmark_launch() {
  uint64_t id = 0;
  state().cupti->activity_pop_external_correlation_id(kLaunchCorrelationKind, &id);
}

}  // namespace epi::profile
