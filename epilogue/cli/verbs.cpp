// SPDX-License-Identifier: Apache-2.0
// The table of verbs, in the order of --help. A new verb is a file with its `add_...`, and here its
// declaration and its row.
#include "epilogue/cli/verbs.h"

namespace epi::cli {

void add_advise(Command& verb);
void add_breakdown(Command& verb);
void add_compare(Command& verb);
void add_expect(Command& verb);
void add_explain(Command& verb);
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
     "A trace in one screen; also: epilogue FILE\n"
     "Example: epilogue summary trace.json.gz",
     add_summary},
    {"table",
     "The profiler's table, as PyTorch prints it\n"
     "Example: epilogue table trace.json --limit 20",
     add_table},
    {"steps",
     "What each step and annotation cost; cold ones are marked\n"
     "Example: epilogue steps trace.json.gz",
     add_steps},
    {"tree",
     "One step as a tree, down to the kernels\n"
     "Example: epilogue tree trace.json --under mlp_fwd",
     add_tree},
    {"explain",
     "What kernel names say: library, types, tile, layout, epilogue, ops\n"
     "Example: epilogue explain nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT\n"
     "         epilogue explain trace.json.gz",
     add_explain},
    {"compare",
     "Is it the same GPU work, and what changed on the CPU?\n"
     "Example: epilogue compare eager.json compiled.json",
     add_compare},
    {"expect",
     "Guesses about a trace as checks; exit code 1 where one is broken\n"
     "Example: epilogue expect trace.json 'mlp_fwd: kernels == 5'",
     add_expect},
    {"breakdown",
     "Where the GPU's time goes; why it is idle\n"
     "Example: epilogue breakdown trace.json.gz",
     add_breakdown},
    {"advise",
     "What would help, by how much, and why\n"
     "Example: epilogue advise trace.json.gz",
     add_advise},
    {"query",
     "SQL over a trace\n"
     "Example: epilogue query t.json 'select name, dur_ns from kernels'",
     add_query},
    {"report",
     "One page that shows a trace, or two side by side\n"
     "Example: epilogue report eager.json -o eager.html",
     add_report},
    {"open",
     "Serves traces to Perfetto's page, on this machine\n"
     "Example: epilogue open trace.json.gz",
     add_open},
#ifdef EPI_HAS_RUNTIME
    {"run", "Runs a block; shows its ops, kernels and time", add_run},
    {"bench", "Eager and compiled side by side on one input", add_bench},
    {"cache",
     "Shows, or empties, the cache of generated code\n"
     "Example: epilogue cache --clear",
     add_cache},
    {"hub", "Kernel packages: prebuilt, versioned, verified", add_hub},
    {"tour",
     "The lesson: from a linear to a fused MLP\n"
     "Example: epilogue tour --quick",
     add_tour},
#endif
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace epi::cli
