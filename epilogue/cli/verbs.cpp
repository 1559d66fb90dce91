// SPDX-License-Identifier: Apache-2.0
// The table of the verbs that are not over traces (verbs/verbs.cpp), in the order of --help.
// A new verb needs a file with its `add_` function, and a declaration and a row here.
#include "epilogue/cli/verbs.h"

namespace epi::cli {

void add_completion(Command& verb);
void add_man(Command& verb);
void add_open(Command& verb);
void add_schema(Command& verb);

#ifdef EPI_HAS_RUNTIME
void add_bench(Command& verb);
void add_cache(Command& verb);
void add_hub(Command& verb);
void add_quantize(Command& verb);
void add_run(Command& verb);
void add_tour(Command& verb);
#endif

namespace {

constexpr Verb kVerbs[] = {
    {"open",
     "Opens traces in Perfetto, served from this machine\n"
     "Example: epilogue open trace.json.gz",
     add_open},
#ifdef EPI_HAS_RUNTIME
    {"run",
     "Runs a block and shows its operators, kernels and time\n"
     "Example: epilogue run mlp --batch 4 --seq 128",
     add_run},
    {"bench",
     "Times a block eager, compiled and with prebuilt kernels, side by side\n"
     "Example: epilogue bench mlp --m 1,16,512",
     add_bench},
    {"quantize",
     "Writes a checkpoint with int8 weights and shows the error of each\n"
     "Example: epilogue quantize model.safetensors -o model.int8.safetensors",
     add_quantize},
    {"cache",
     "Shows or clears the compile cache\n"
     "Example: epilogue cache --clear",
     add_cache},
    {"hub",
     "Lists, checks, fetches, builds and signs packages of prebuilt kernels\n"
     "Example: epilogue hub why epilogue/glu@1",
     add_hub},
    {"tour",
     "A tutorial that runs: from a linear layer to a fused MLP\n"
     "Example: epilogue tour --quick",
     add_tour},
#endif
    {"completion",
     "Prints the completion script of a shell\n"
     "Example: source <(epilogue completion bash)",
     add_completion},
    {"schema",
     "Prints the JSON Schema of what a verb prints with --json\n"
     "Example: epilogue schema steps",
     add_schema},
    {"man",
     "Prints a man page\n"
     "Example: epilogue man advise | man -l -",
     add_man},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace epi::cli
