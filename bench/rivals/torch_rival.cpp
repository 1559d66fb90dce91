// SPDX-License-Identifier: Apache-2.0
#include "bench/rivals/rival.h"

#if defined(EPI_TORCH_PYTHON)

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "epilogue/base/error.h"
#include "epilogue/base/thread_pool.h"

namespace epi::bench {
namespace {

// PyTorch in a Python process of its own, which answers line by line (torch_linear.py).
class TorchRival : public Rival {
 public:
  TorchRival() {
    int requests[2];
    int answers[2];
    if (::pipe(requests) != 0 || ::pipe(answers) != 0) throw Error("torch: cannot create a pipe");
    const std::string threads = fmt::format("{}", num_threads());
    child_ = ::fork();
    if (child_ < 0) throw Error("torch: cannot start a process");
    if (child_ == 0) {
      ::dup2(requests[0], STDIN_FILENO);
      ::dup2(answers[1], STDOUT_FILENO);
      for (const int end : {requests[0], requests[1], answers[0], answers[1]}) ::close(end);
      // PyTorch's own setting does not reach the library that it multiplies with.
      ::setenv("OMP_NUM_THREADS", threads.c_str(), 1);
      ::setenv("OPENBLAS_NUM_THREADS", threads.c_str(), 1);
      ::execlp(EPI_TORCH_PYTHON, EPI_TORCH_PYTHON, EPI_TORCH_SCRIPT, threads.c_str(), nullptr);
      std::_Exit(127);
    }
    ::close(requests[0]);
    ::close(answers[1]);
    requests_ = ::fdopen(requests[1], "w");
    answers_ = ::fdopen(answers[0], "r");
    name_ = answer();
  }
  ~TorchRival() override {
    std::fclose(requests_);  // ends the process
    std::fclose(answers_);
    ::waitpid(child_, nullptr, 0);
  }

  std::string name() const override { return name_; }
  bool prepare(const LinearCase& linear) override {
    return ask(fmt::format("prepare {} {} {} {}\n", epi::name(linear.dtype), linear.rows,
                           linear.inputs, linear.outputs)) == "yes";
  }
  double run(int64_t calls) override {
    return std::strtod(ask(fmt::format("run {}\n", calls)).c_str(), nullptr);
  }

 private:
  std::string ask(const std::string& request) {
    std::fputs(request.c_str(), requests_);
    std::fflush(requests_);
    return answer();
  }
  std::string answer() {
    char line[256];
    if (std::fgets(line, sizeof line, answers_) == nullptr) throw Error("torch: no answer");
    std::string text = line;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  pid_t child_ = -1;
  std::FILE* requests_ = nullptr;
  std::FILE* answers_ = nullptr;
  std::string name_;
};

}  // namespace

std::unique_ptr<Rival> torch_rival() { return std::make_unique<TorchRival>(); }

}  // namespace epi::bench

#else

namespace epi::bench {
std::unique_ptr<Rival> torch_rival() { return nullptr; }
}  // namespace epi::bench

#endif
