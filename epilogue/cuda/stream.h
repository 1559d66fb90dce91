// SPDX-License-Identifier: Apache-2.0
// Streams and events. Every operator's work goes to the stream that is current in the calling
// thread: the device's default stream, or the one of the innermost `StreamGuard`.
//
//   cuda::StreamGuard guard(cuda::Stream::wrap(my_stream));   // a cudaStream_t of the caller
//   y = mlp.forward(x);                                       // all of it on my_stream
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace epi::cuda {

class Event;

class Stream {
 public:
  // The caller's stream; it must outlive the work on it.
  static Stream wrap(cudaStream_t stream);
  // A new one on `device`, which does not wait for the default stream; its last copy waits for
  // its work and destroys it.
  static Stream create(int device = 0);
  // The default stream of `device`.
  static Stream default_of(int device);

  cudaStream_t get() const { return stream_; }
  int device() const { return device_; }
  // Unique among all streams that the process ever had, unlike the handle.
  uint64_t id() const { return id_; }

  void synchronize() const;
  // Work that follows on this stream waits for what `event` marks.
  void wait(const Event& event) const;
  // Its work is being captured into a graph.
  bool is_capturing() const;

 private:
  Stream(cudaStream_t stream, int device, uint64_t id, std::shared_ptr<void> owner)
      : stream_(stream), device_(device), id_(id), owner_(std::move(owner)) {}

  cudaStream_t stream_;
  int device_;
  uint64_t id_;
  std::shared_ptr<void> owner_;  // null: the caller's, or the default
};

// The stream that the calling thread's operators use on `device`.
const Stream& current_stream(int device = 0);

// Makes `stream` the current one of its device in the calling thread, for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard();

 private:
  Stream before_;
};

// A mark in a stream. With `timing`, two of them measure what lies between.
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
  // What it marks is done. Throws where that work failed.
  bool is_done() const;
  // The same, and false where nothing is known: the work failed, the event is part of a capture.
  bool is_known_done() const noexcept;
  void synchronize() const;
  // Milliseconds from `start` to this one; both must be done, and made with timing.
  float ms_since(const Event& start) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace epi::cuda
