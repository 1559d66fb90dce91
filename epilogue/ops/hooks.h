// SPDX-License-Identifier: Apache-2.0
// What others may attach to the dispatcher: a listener that is told of every operator, annotation
// and kernel (a profiler), and a capture that takes the calls over (a compiler). `ops` knows
// neither; with nothing attached a call pays one load and one branch for each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/base/clock.h"
#include "epilogue/ops/args.h"

namespace epi {

enum class Op : uint8_t;

// One run of one kernel. `name` identifies the code, not the call: the same name over the same
// shapes is the same work.
struct KernelRun {
  std::string_view name;
  int64_t start_ns = 0;  // of now_ns()
  int64_t end_ns = 0;
  int64_t bytes = 0;  // read and written, each operand counted once
  int64_t flops = 0;
};

// What the work that one call starts on a device costs; counted as in KernelRun.
struct LaunchCost {
  int64_t bytes = 0;
  int64_t flops = 0;
};

// Told of what runs, from every thread that runs something; calls nest within a thread.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void op_begin(Op op, Args args) = 0;
  virtual void op_end(Op op) = 0;
  virtual void annotation_begin(std::string_view name) = 0;
  virtual void annotation_end() = 0;
  // An operator that is not in the table of operators: a package's. Its end is `annotation_end`.
  virtual void custom_op_begin(std::string_view name, Args /*args*/) { annotation_begin(name); }
  virtual void kernel(const KernelRun& run) = 0;
  // Between the two the calling thread starts work of `cost` on a device, which runs later: its
  // kernels' names and times come from the device's own recorder. They do not nest.
  virtual void launch_begin(const LaunchCost& cost) = 0;
  virtual void launch_end() = 0;
};

// Takes views and compute operators over while it is active in a thread; composites pass through.
class Capture {
 public:
  virtual ~Capture() = default;
  virtual Tensor call(Op op, Args args) = 0;
};

namespace detail {
inline std::atomic<Listener*> listener{nullptr};
inline thread_local Capture* capture = nullptr;
}  // namespace detail

inline Listener* current_listener() { return detail::listener.load(std::memory_order_acquire); }
// The listener of the whole process; null takes it away. A call that began while it was set may
// still tell it of its end, from any thread: it must outlive them, or live for ever.
inline void set_listener(Listener* listener) {
  detail::listener.store(listener, std::memory_order_release);
}

// The capture of the calling thread; returns the one that was active before.
inline Capture* set_capture(Capture* capture) {
  Capture* before = detail::capture;
  detail::capture = capture;
  return before;
}

// A named range around the calls in its scope: `RecordFunction range("mlp_fwd");`
class RecordFunction {
 public:
  explicit RecordFunction(std::string_view name) : listener_(current_listener()) {
    if (listener_ != nullptr) listener_->annotation_begin(name);
  }
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  ~RecordFunction() {
    if (listener_ != nullptr) listener_->annotation_end();
  }

 private:
  Listener* listener_;
};

// The same as an operator that is not in the table, as PyTorch shows what its compiler does:
// `RecordOp op("Epilogue Guards");`
class RecordOp {
 public:
  explicit RecordOp(std::string_view name) : listener_(current_listener()) {
    if (listener_ != nullptr) listener_->custom_op_begin(name, Args({}));
  }
  RecordOp(const RecordOp&) = delete;
  RecordOp& operator=(const RecordOp&) = delete;
  ~RecordOp() {
    if (listener_ != nullptr) listener_->annotation_end();
  }

 private:
  Listener* listener_;
};

// Runs `body` as an operator that is not in the table; `name` is called only where someone listens.
template <typename Name, typename Body>
auto run_custom_op(Name&& name, std::span<const Tensor> inputs, Body&& body) {
  Listener* listener = current_listener();
  if (listener == nullptr) return body();
  struct End {
    Listener* listener;
    ~End() { listener->annotation_end(); }
  };
  const std::vector<Arg> args(inputs.begin(), inputs.end());
  listener->custom_op_begin(name(), Args(args));
  const End end{listener};
  return body();
}

// Runs `body` as one kernel and reports it; `describe` makes the `KernelRun` without its times and
// is called only where someone listens.
template <typename Describe, typename Body>
void run_kernel(Describe&& describe, Body&& body) {
  Listener* listener = current_listener();
  if (listener == nullptr) {
    body();
    return;
  }
  const int64_t start_ns = now_ns();
  body();
  const int64_t end_ns = now_ns();
  const auto described = describe();
  listener->kernel({described.name, start_ns, end_ns, described.bytes, described.flops});
}

// Runs `body`, which starts work on a device, and tells its cost; `cost` makes the `LaunchCost` and
// is called only where someone listens.
template <typename Cost, typename Body>
void run_launch(Cost&& cost, Body&& body) {
  Listener* listener = current_listener();
  if (listener == nullptr) {
    body();
    return;
  }
  struct End {
    Listener* listener;
    ~End() { listener->launch_end(); }
  };
  listener->launch_begin(cost());
  const End end{listener};
  body();
}

// A kernel's name made from a format, without allocating; cut where it is too long.
class KernelName {
 public:
  template <typename... Ts>
  explicit KernelName(fmt::format_string<Ts...> format, Ts&&... values) {
    const auto end =
        fmt::format_to_n(text_.data(), text_.size(), format, std::forward<Ts>(values)...);
    size_ = std::min(end.size, text_.size());
  }
  operator std::string_view() const { return {text_.data(), size_}; }  // NOLINT: it is a text

 private:
  std::array<char, 120> text_;
  size_t size_;
};

// What `describe` returns: as KernelRun, with a name of its own.
struct KernelFacts {
  KernelName name;
  int64_t bytes = 0;
  int64_t flops = 0;
};

}  // namespace epi
