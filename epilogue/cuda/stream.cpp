// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/stream.h"

#include <utility>
#include <vector>

#include "epilogue/cuda/block_cache.h"
#include "epilogue/cuda/device_guard.h"

namespace epi::cuda {
namespace {

// The calling thread's current streams, indexed by device. Grows on demand with default streams.
std::vector<Stream>& thread_streams(int device) {
  thread_local std::vector<Stream> streams;
  while (static_cast<int>(streams.size()) <= device) {
    streams.push_back(Stream::default_of(static_cast<int>(streams.size())));
  }
  return streams;
}

uint64_t id_of(cudaStream_t stream) {
  unsigned long long id = 0;  // NOLINT: CUDA's type
  check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
  return id;
}

}  // namespace

Stream Stream::wrap(cudaStream_t stream) {
  int device = 0;
  check(cudaStreamGetDevice(stream, &device), "cudaStreamGetDevice");
  return {stream, device, id_of(stream), nullptr};
}

Stream Stream::create(int device) {
  const DeviceGuard guard(device);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  const Stream made(stream, device, id_of(stream), nullptr);
  std::shared_ptr<void> owner(stream, [made](void*) {
    cudaStreamSynchronize(made.get());
    block_cache(made.device()).retire(made);
    cudaStreamDestroy(made.get());
  });
  return {stream, device, made.id(), std::move(owner)};
}

Stream Stream::default_of(int device) {
  const DeviceGuard guard(device);
  return {nullptr, device, id_of(nullptr), nullptr};
}

void Stream::synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

void Stream::wait(const Event& event) const {
  check(cudaStreamWaitEvent(stream_, event.get(), 0), "cudaStreamWaitEvent");
}

bool Stream::is_capturing() const {
  if (stream_ == nullptr) return false;  // CUDA cannot capture the default stream
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

const Stream& current_stream(int device) {
  return thread_streams(device)[static_cast<size_t>(device)];
}

StreamGuard::StreamGuard(Stream stream)
    : previous_(std::exchange(thread_streams(stream.device())[static_cast<size_t>(stream.device())],
                              stream)) {}

StreamGuard::~StreamGuard() {
  const auto device = static_cast<size_t>(previous_.device());
  thread_streams(previous_.device())[device] = std::move(previous_);
}

Event::Event(Timing timing) {
  const unsigned flags = timing == Timing::kOn ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
}

Event::~Event() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

void Event::record(const Stream& stream) const {
  check(cudaEventRecord(event_, stream.get()), "cudaEventRecord");
}

bool Event::is_done() const {
  const cudaError_t code = cudaEventQuery(event_);
  if (code == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(code, "cudaEventQuery");
  return true;
}

bool Event::is_known_done() const noexcept {
  const bool done = cudaEventQuery(event_) == cudaSuccess;
  if (!done) cudaGetLastError();
  return done;
}

void Event::synchronize() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

float Event::ms_since(const Event& start) const {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
  return ms;
}

}  // namespace epi::cuda
