// SPDX-License-Identifier: Apache-2.0
// epilogue_bench [--json] [--benchmark_filter=REGEX]: exits with 1 if a claim does not hold.
// epilogue_bench --big-trace FILE MEGABYTES: writes the trace that the reader is measured on.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/big_trace.h"
#include "bench/suite.h"
#include "epilogue/cpu/cpu_backend.h"

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--walk") return epi::bench::walk_trace(argv[2]);
  if (argc == 2 && std::string_view(argv[1]) == "--first-call") {
    return epi::bench::print_first_call();
  }
  if (argc == 4 && std::string_view(argv[1]) == "--big-trace") {
    epi::bench::write_big_trace(argv[2], 1'000'000 * std::atoll(argv[3]));
    return 0;
  }
  bool json = false;
  std::vector<char*> arguments;
  for (int i = 0; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") {
      json = true;
    } else {
      arguments.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  epi::register_cpu_backend();
  epi::bench::Suite suite;
  epi::bench::add_callers(suite);
  epi::bench::add_compile(suite);
  epi::bench::add_dispatch(suite);
  epi::bench::add_explain(suite);
  epi::bench::add_hub(suite);
  epi::bench::add_linear(suite);
  epi::bench::add_mlp(suite);
  epi::bench::add_pointwise(suite);
  epi::bench::add_profile(suite);
  epi::bench::add_reader(suite);
  const int broken = suite.run(json);
  if (broken < 0) fmt::print(stderr, "epilogue_bench: no benchmark matches --benchmark_filter\n");
  return broken < 0 ? 2 : broken > 0 ? 1 : 0;
}
