// SPDX-License-Identifier: Apache-2.0
// Hooks into the dispatcher: a listener that is notified of every operator, annotation and kernel
// (a profiler), and a capture that takes over the calls (a compiler). `ops` does not depend on
// either. Without a hook, a call pays one load and one branch for each.
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

enum class Op : uint16_t;

// One kernel run. `name` identifies the code, not the call: the same name with the same shapes
// means the same work.
struct KernelRun {
  std::string_view name;
  int64_t start_ns = 0;  // in the clock of now_ns()
  int64_t end_ns = 0;
  int64_t bytes = 0;  // read and written, each operand counted once
  int64_t flops = 0;
};

// Cost of the device work that one call launches, counted as in KernelRun.
struct LaunchCost {
  int64_t bytes = 0;
  int64_t flops = 0;
};

// Notified of everything that runs, from every thread that runs it. Calls nest within a thread.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void op_begin(Op op, Args args) = 0;
  virtual void op_end(Op op) = 0;
  virtual void annotation_begin(std::string_view name) = 0;
  virtual void annotation_end() = 0;
  // An operator outside the operator table, from a package. It ends with `annotation_end`.
  virtual void custom_op_begin(std::string_view name, Args /*args*/) { annotation_begin(name); }
  virtual void kernel(const KernelRun& run) = 0;
  // Between these two calls the thread launches device work of the given cost, which runs later.
  // Kernel names and times come from the device's own recorder. The pairs do not nest.
  virtual void launch_begin(const LaunchCost& cost) = 0;
  virtual void launch_end() = 0;
};

// Takes over views and compute operators while it is active in a thread. Composites pass through.
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
// Sets the process-wide listener, or removes it if null. A call that started while it was set may
// still report its end, from any thread: the listener must outlive all such calls.
inline void set_listener(Listener* listener) {
  detail::listener.store(listener, std::memory_order_release);
}

// Sets the capture of the calling thread and returns the previous one.
inline Capture* set_capture(Capture* capture) {
  Capture* previous = detail::capture;
  detail::capture = capture;
  return previous;
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

// The same range, shown as an operator outside the table, as PyTorch shows the work of its
// compiler: `RecordOp op("Epilogue Guards");`
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

// Runs `body` as an operator outside the table. Calls `name` only if there is a listener.
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

// Runs `body` as one kernel and reports it. `describe` returns the `KernelRun` without its times
// and is called only if there is a listener.
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

// Runs `body`, which launches device work, and reports its cost. `cost` returns the `LaunchCost`
// and is called only if there is a listener.
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

// A kernel name, formatted without allocating and truncated if it is too long.
class KernelName {
 public:
  template <typename... Ts>
  explicit KernelName(fmt::format_string<Ts...> format, Ts&&... values) {
    const auto end =
        fmt::format_to_n(text_.data(), text_.size(), format, std::forward<Ts>(values)...);
    size_ = std::min(end.size, text_.size());
  }
  operator std::string_view() const { return {text_.data(), size_}; }  // NOLINT: implicit

 private:
  std::array<char, 120> text_;
  size_t size_;
};

// The return type of `describe`: a KernelRun that owns its name and has no times.
struct KernelCost {
  KernelName name;
  int64_t bytes = 0;
  int64_t flops = 0;
};

}  // namespace epi
