// SPDX-License-Identifier: Apache-2.0
// Streams and events. Operators launch on the calling thread's current stream: the stream of the
// innermost `StreamGuard`, or else the device's default stream.
//
//   cuda::StreamGuard guard(cuda::Stream::wrap(my_stream));   // the caller's cudaStream_t
//   y = mlp.forward(x);                                       // runs on my_stream
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace epi::cuda {

class Event;

class Stream {
 public:
  // Wraps the caller's stream, which must outlive the work on it.
  static Stream wrap(cudaStream_t stream);
  // Creates a stream on `device` that does not synchronize with the default stream. Destroying the
  // last copy waits for its work and destroys the stream.
  static Stream create(int device = 0);
  // The default stream of `device`.
  static Stream default_of(int device);

  cudaStream_t get() const { return stream_; }
  int device() const { return device_; }
  // Never reused within the process, unlike the handle.
  uint64_t id() const { return id_; }

  void synchronize() const;
  // Makes later work on this stream wait for `event`.
  void wait(const Event& event) const;
  // True while the stream is being captured into a graph.
  bool is_capturing() const;

 private:
  Stream(cudaStream_t stream, int device, uint64_t id, std::shared_ptr<void> owner)
      : stream_(stream), device_(device), id_(id), owner_(std::move(owner)) {}

  cudaStream_t stream_;
  int device_;
  uint64_t id_;
  std::shared_ptr<void> owner_;  // null: the caller's stream or the default stream
};

// The stream on which the calling thread's operators launch on `device`.
const Stream& current_stream(int device = 0);

// Makes `stream` the calling thread's current stream on its device for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard();

 private:
  Stream previous_;
};

// A CUDA event. Two events with timing on measure the time between them.
class Event {
 public:
  enum class Timing : bool { kOff, kOn };
  explicit Event(Timing timing = Timing::kOff);
  Event(Event&& other) noexcept { std::swap(event_, other.event_); }
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event();

  cudaEvent_t get() const { return event_; }
  void record(const Stream& stream) const;
  // True if the work before the event is done. Throws if that work failed.
  bool is_done() const;
  // Like `is_done`, but returns false if the work failed or the event is part of a capture.
  bool is_known_done() const noexcept;
  void synchronize() const;
  // Milliseconds from `start` to this event. Both must be done and have timing on.
  float ms_since(const Event& start) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace epi::cuda
