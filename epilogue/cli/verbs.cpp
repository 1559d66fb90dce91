// SPDX-License-Identifier: Apache-2.0
// The table of verbs, in the order of --help. A new verb needs a file with its `add_` function, and
// a declaration and a row here.
#include "epilogue/cli/verbs.h"

namespace epi::cli {

void add_advise(Command& verb);
void add_breakdown(Command& verb);
void add_compare(Command& verb);
void add_completion(Command& verb);
void add_expect(Command& verb);
void add_explain(Command& verb);
void add_man(Command& verb);
void add_open(Command& verb);
void add_query(Command& verb);
void add_report(Command& verb);
void add_steps(Command& verb);
void add_summary(Command& verb);
void add_table(Command& verb);
void add_tree(Command& verb);

#ifdef EPI_HAS_RUNTIME
void add_bench(Command& verb);
void add_cache(Command& verb);
void add_hub(Command& verb);
void add_run(Command& verb);
void add_tour(Command& verb);
#endif

namespace {

constexpr Verb kVerbs[] = {
    {"summary",
     "What limits a step, on one screen (the same as epilogue FILE)\n"
     "Example: epilogue summary trace.json.gz",
     add_summary},
    {"table",
     "The profiler table, as PyTorch prints it\n"
     "Example: epilogue table trace.json --limit 20",
     add_table},
    {"steps",
     "Time, kernels and idle time per step and annotation\n"
     "Example: epilogue steps trace.json.gz",
     add_steps},
    {"tree",
     "The operators of one step as a tree, down to the kernels\n"
     "Example: epilogue tree trace.json --under mlp_fwd",
     add_tree},
    {"explain",
     "Decodes kernel names: library, types, tile, layout, epilogue, operators\n"
     "Example: epilogue explain nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT\n"
     "         epilogue explain trace.json.gz",
     add_explain},
    {"compare",
     "What changed between two traces, on the GPU and on the CPU\n"
     "Example: epilogue compare eager.json compiled.json",
     add_compare},
    {"expect",
     "Checks rules on a trace; exits with 1 if one is broken\n"
     "Example: epilogue expect trace.json 'mlp_fwd: kernels == 5'",
     add_expect},
    {"breakdown",
     "Where the GPU time goes, and why the GPU is idle\n"
     "Example: epilogue breakdown trace.json.gz",
     add_breakdown},
    {"advise",
     "What would make a step faster, by how much, and why\n"
     "Example: epilogue advise trace.json.gz",
     add_advise},
    {"query",
     "SQL queries on a trace\n"
     "Example: epilogue query t.json 'select name, dur_ns from kernels'",
     add_query},
    {"report",
     "An HTML page for a trace, or for two side by side\n"
     "Example: epilogue report eager.json -o eager.html",
     add_report},
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
    {"man",
     "Prints a man page\n"
     "Example: epilogue man advise | man -l -",
     add_man},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace epi::cli
