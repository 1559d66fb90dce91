// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/thread_pool.h"
#include "epilogue/base/error.h"
#include "epilogue/base/parse_integer.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace epi {
namespace {

// Workers spin this long for the next kernel before they sleep. The kernels of a forward pass
// follow each other within microseconds, less than it takes to wake a thread.
constexpr auto kSpin = std::chrono::microseconds(200);

// Pauses without touching memory, then yields the core. Without the yield, a spinning thread would
// delay the very worker that it waits for if both run on one core.
void relax() {
  for (int i = 0; i < 64; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  std::this_thread::yield();
}

int default_num_threads() {
  if (const char* text = std::getenv("EPILOGUE_THREADS")) {
    const int64_t requested = parse_integer(text).value_or(0);
    if (requested >= 1 && requested <= kMaxThreads) return static_cast<int>(requested);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

// Linux tends to wake a thread on the core of the thread that woke it, which continues to compute
// there. The two would share the core for milliseconds, until the load balancer runs. A worker that
// wakes up on that core leaves it by excluding the core from its affinity mask for a moment.
void leave_core(int core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getcpu() != core || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}

thread_local bool inside_parallel = false;

struct Job {
  int64_t count = 0;
  uint16_t parts = 0;
  detail::RangeBody body = nullptr;
  void* context = nullptr;
};

// Several parts per thread, so that a thread that shares its core does not hold up the others.
constexpr int kPartsPerThread = 4;
// Few indivisible pieces are claimed one by one: parts of one and of two pieces would leave threads
// idle at the end.
constexpr int kMaxPartsPerThread = 16;

int64_t parts_of(int64_t pieces) {
  return pieces <= num_threads() * kMaxPartsPerThread ? pieces : num_threads() * kPartsPerThread;
}

// One running job. Threads claim its parts through a ticket, so a caller whose workers are still
// asleep runs all parts itself and returns without waiting for them to wake up.
class alignas(64) Slot {
 public:
  // Held by the caller while its job runs.
  std::mutex& busy() { return busy_; }

  void start(const Job& job) {
    job_ = job;
    done_.store(0, std::memory_order_relaxed);
    ticket_.store(Ticket{++job_id_, job.parts, 0}, std::memory_order_release);
  }

  // Runs parts until none is left; false if there was none. `job_` does not change while a claimed
  // part is unfinished.
  bool run_parts() {
    bool ran = false;
    Ticket ticket = ticket_.load(std::memory_order_acquire);
    while (ticket.next < ticket.parts) {
      Ticket claimed = ticket;
      ++claimed.next;
      if (!ticket_.compare_exchange_weak(ticket, claimed, std::memory_order_acq_rel)) continue;
      const int64_t begin = job_.count * ticket.next / job_.parts;
      const int64_t end = job_.count * (ticket.next + 1) / job_.parts;
      try {
        job_.body(job_.context, begin, end);
      } catch (...) {
        if (!failed_.exchange(true)) error_ = std::current_exception();
      }
      done_.fetch_add(1, std::memory_order_release);
      ran = true;
      ticket = ticket_.load(std::memory_order_acquire);
    }
    return ran;
  }

  // Waits for the parts that other threads claimed. Rethrows the exception of a part.
  void finish() {
    while (done_.load(std::memory_order_acquire) != job_.parts) relax();
    if (failed_.exchange(false)) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  // 64 bits, so that a claim is one compare-and-swap. A claim belongs to the job that runs when the
  // swap succeeds, because `job_` is read after it. The job id makes it likely that the swap fails
  // for a worker that still holds the ticket of an earlier job.
  struct Ticket {
    uint32_t job_id = 0;
    uint16_t parts = 0;
    uint16_t next = 0;
  };
  static_assert(std::atomic<Ticket>::is_always_lock_free);

  std::mutex busy_;
  Job job_;
  uint32_t job_id_ = 0;
  std::atomic<Ticket> ticket_{};
  std::atomic<int> done_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // from the first part that failed (the other parts still run)
};

// Runs the jobs of up to `kSlots` callers. A worker stays with a job until its parts are claimed,
// then goes on to the next job: a job that starts while all workers are busy gets them as they
// become free, and runs in its caller until then.
class Pool {
 public:
  Pool() { resize(num_threads()); }

  // If the system cannot create all workers, the caller does the remaining work. Workers beyond the
  // new number sleep.
  void resize(int threads) {
    const std::lock_guard lock(resizing_);
    threads_.store(threads, std::memory_order_release);
    threads_.notify_all();
    try {
      for (; workers_ < threads - 1; ++workers_) {
        std::thread([this, number = workers_ + 1] { work(number); }).detach();
      }
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  // False if every slot is taken.
  bool run(const Job& job) {
    for (Slot& slot : slots_) {
      const std::unique_lock lock(slot.busy(), std::try_to_lock);
      if (!lock.owns_lock()) continue;
      caller_core_.store(sched_getcpu(), std::memory_order_relaxed);
      slot.start(job);
      announce();
      inside_parallel = true;
      slot.run_parts();
      inside_parallel = false;
      slot.finish();
      return true;
    }
    return false;
  }

 private:
  // Each worker looks at all slots, so there are few. Callers beyond them run alone.
  static constexpr size_t kSlots = 16;

  void announce() {
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
  }

  // Until all parts of all jobs are claimed, or this worker is one too many.
  void run_jobs(int number) {
    bool ran = true;
    while (ran && number < threads_.load()) {
      ran = false;
      for (Slot& slot : slots_) ran |= slot.run_parts();
    }
  }

  void wait_past(uint32_t seen) {
    const auto deadline = std::chrono::steady_clock::now() + kSpin;
    while (generation_.load(std::memory_order_acquire) == seen) {
      relax();
      if (std::chrono::steady_clock::now() < deadline) continue;
      generation_.wait(seen);
      leave_core(caller_core_.load(std::memory_order_relaxed));
    }
  }

  void work(int number) {
    inside_parallel = true;
    for (;;) {
      for (int threads = threads_.load(); number >= threads; threads = threads_.load()) {
        threads_.wait(threads);
      }
      const uint32_t seen = generation_.load(std::memory_order_acquire);
      run_jobs(number);
      wait_past(seen);
    }
  }

  std::array<Slot, kSlots> slots_;
  std::mutex resizing_;
  int workers_ = 0;
  std::atomic<int> threads_{1};
  std::atomic<int> caller_core_{0};
  std::atomic<uint32_t> generation_{0};
};

// Never destroyed: the workers sleep until the process ends. A forked child has no workers until it
// sets another number of threads, and its calls run in the calling thread, which claims every part.
// Slots in which other threads of the parent were running stay taken.
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

}  // namespace

namespace {

std::atomic<int>& thread_count() {
  static std::atomic<int> threads = default_num_threads();
  return threads;
}

// Never destroyed: calls may run while the process ends.
Executor& executor() {
  static Executor* instance = new Executor;
  return *instance;
}
std::atomic<bool> has_executor = false;

// Runs the parts of a job in the threads of the executor.
void run_in_executor(const Job& job) {
  std::mutex mutex;
  std::exception_ptr error;
  executor()(job.parts, [&](int64_t part) {
    const bool was_inside = std::exchange(inside_parallel, true);
    try {
      job.body(job.context, job.count * part / job.parts, job.count * (part + 1) / job.parts);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (error == nullptr) error = std::current_exception();
    }
    inside_parallel = was_inside;
  });
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int threads) {
  if (threads < 1 || threads > kMaxThreads) {
    fail("set_num_threads", "{} is not a number of threads: use 1 to {}", threads, kMaxThreads);
  }
  thread_count() = threads;
  pool().resize(threads);
}

void set_executor(Executor given) {
  executor() = std::move(given);
  has_executor = executor() != nullptr;
}

void detail::parallel_ranges(int64_t count, int64_t grain, RangeBody body, void* context) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (!inside_parallel && count >= 2 * grain && num_threads() > 1) {
    const Job job{count, static_cast<uint16_t>(parts_of(count / grain)), body, context};
    if (has_executor.load(std::memory_order_acquire)) return run_in_executor(job);
    if (pool().run(job)) return;
  }
  body(context, 0, count);
}

}  // namespace epi
