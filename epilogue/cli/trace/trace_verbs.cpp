// SPDX-License-Identifier: Apache-2.0
// The table of the verbs over traces, in the order of --help. A new verb needs a file with its
// `add_` function, and a declaration and a row here.
#include "epilogue/cli/trace/trace_verbs.h"

namespace epi::cli {

void add_advise(Command& verb, Session& session);
void add_breakdown(Command& verb, Session& session);
void add_compare(Command& verb, Session& session);
void add_expect(Command& verb, Session& session);
void add_explain(Command& verb, Session& session);
void add_query(Command& verb, Session& session);
void add_ranks(Command& verb, Session& session);
void add_report(Command& verb, Session& session);
void add_steps(Command& verb, Session& session);
void add_summary(Command& verb, Session& session);
void add_table(Command& verb, Session& session);
void add_tree(Command& verb, Session& session);

namespace {

constexpr TraceVerb kTraceVerbs[] = {
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
    {"ranks",
     "The ranks of a job: which one the others wait for, and why\n"
     "Example: epilogue ranks FOLDER",
     add_ranks},
    {"query",
     "SQL queries on a trace\n"
     "Example: epilogue query t.json 'select name, dur_ns from kernels'",
     add_query},
    {"report",
     "An HTML page for a trace, for two side by side, or for ranks\n"
     "Example: epilogue report eager.json -o eager.html",
     add_report},
};

}  // namespace

std::span<const TraceVerb> trace_verbs() { return kTraceVerbs; }

}  // namespace epi::cli
