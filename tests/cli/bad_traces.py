#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Traces that are hard to read in linear time. Each function takes a number n and returns the bytes of a
# trace whose size is proportional to n. As a program: bad_traces.py FOLDER BYTES writes all of them.
import json
import sys


def _event(cat, name, ts, dur, tid=1, pid=1, **args):
    event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
    if args:
        event["args"] = args
    return event


def _kernel(name, ts, dur, correlation, stream=7):
    return _event("kernel", name, ts, dur, tid=stream, pid=0, correlation=correlation, stream=stream, device=0)


def _launch(ts, correlation, tid=1, name="cudaLaunchKernel"):
    return _event("cuda_runtime", name, ts, 1, tid=tid, correlation=correlation)


def _trace(events, **properties):
    text = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    head = "".join(f"{json.dumps(key)}:{json.dumps(value)}," for key, value in properties.items())
    return ("{" + head + '"traceEvents":[\n' + text + "]}").encode()


# n launches with a kernel each, one after the other: the work that the other traces add their steps to.
def _work(n, begin=10, spacing=10):
    events = []
    for i in range(n):
        events.append(_launch(begin + spacing * i, i + 1))
        events.append(_kernel(f"kernel_{i % 7}", begin + spacing * i + 5, 4, i + 1))
    return events


def nested_events(n):
    return b'{"traceEvents":[' + b'{"ph":[' * n


def nested_event_objects(n):
    return b'{"traceEvents":[' + b'{"ph":[{"ph":"X"},' * n


def nested_args(n):
    deep = "{\"a\":" * n + "1" + "}" * n
    return ('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":' + deep + "}]}").encode()


def nested_lists_in_args(n):
    deep = "[" * n + "]" * n
    return ('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"a":'
            + deep + ',"External id":3}}]}').encode()


def unclosed_lists(n):
    return b'{"traceEvents":[{"ph":"X","args":{"a":' + b"[" * n


def nested_head(n):
    return b'{"a":' + b'{"a":' * n + b"1" + b"}" * n + b',"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}'


def unterminated_events(n):
    return b'{"traceEvents":[' + b'{"ph":"X","name":"a' * n


def unterminated_names(n):
    return b'{"traceEvents":[' + b'{"ph":"X","name":"a,' * n


def unterminated_events_with_commas(n):
    return b'{"traceEvents":[' + b'{"ph":"X","name":"a",\n' * n


def unterminated_args(n):
    return b'{"traceEvents":[' + b'{"ph":"X","name":"a","args":{"b":[1,' * n


def many_quotes(n):
    return b'{"traceEvents":[{"ph":"X","name":' + b'"' * n


def many_quotes_with_commas(n):
    return b'{"traceEvents":[{"ph":"X","name":"' + b'","' * n


def quotes_and_spaces(n):
    return b'{"traceEvents":[{"ph":"X","name":"' + b'"         ' * n


def spaces_after_quotes(n):
    return b'{"traceEvents":[{"ph":"X","name":"' + b'","a' * (n // 2) + b" " * n


def spaces_before_braces(n):
    return b'{"traceEvents":[{"ph":"X","name":"' + b'x"' + b'   {' * n + b" " * n


def many_backslashes(n):
    return b'{"traceEvents":[{"ph":"X","name":"' + b"\\" * n


def events_in_a_string(n):
    return b'{"traceEvents":[{"ph":"X","name":"b"c' + b',{"ph":"X"' * n


def keys_without_values(n):
    return b'{"traceEvents":[' + b'{"ph":' * n


def only_braces(n):
    return b"{" * n


def only_brackets(n):
    return b"[" * n


def spaces(n):
    return b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}' + b" " * n


def zeros(n):
    return b'{"traceEvents":[' + b"\0" * n


def stray_commas(n):
    return b'{"traceEvents":[' + b"," * n + b"]}"


def broken_events(n):
    return b'{"traceEvents":[' + b'{"ph":"X","ts":1,"dur":1,},{"ph" "X"},{"ph":"X" "a":[}},' * n + b"]}"


def long_properties(n):
    return b"{" + b"".join(b'"p%d":{"a":[%d]},' % (i, i) for i in range(n)) + b'"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}'


def one_correlation_id(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, 5))
        events.append(_kernel("k", 10 * i + 5, 4, 5))
    return _trace(events)


def one_correlation_id_late_launches(n):
    return _trace([_kernel("k", i, 1, 5) for i in range(n)] + [_launch(10 * n - i, 5) for i in range(n)])


def one_external_id(n):
    events = []
    for i in range(n):
        events.append(_event("cpu_op", "aten::mm", 10 * i, 8, **{"External id": 3}))
        events.append(_event("kernel", "k", 10 * i + 5, 4, tid=7, pid=0, **{"External id": 3}))
    return _trace(events)


def overlapping_steps(n):
    steps = [_event("user_annotation", f"ProfilerStep#{i}", 10 * i, 10 * n) for i in range(n)]
    return _trace(steps + _work(n))


def nested_steps(n):
    steps = [_event("user_annotation", f"ProfilerStep#{i}", i, 20 * n - 2 * i) for i in range(n)]
    return _trace(steps + _work(n, begin=n))


def overlapping_annotations(n):
    notes = [_event("user_annotation", f"part {i % 3}", 10 * i, 10 * n, tid=i % 50) for i in range(n)]
    return _trace(notes + _work(n))


def overlapping_annotation_names(n):
    notes = [_event("user_annotation", f"part {i}", 10 * i, 10 * n, tid=i % 50) for i in range(n)]
    return _trace(notes + _work(n))


def nested_annotations(n):
    notes = [_event("user_annotation", "layer", i, 40 * n - 2 * i) for i in range(n)]
    return _trace(notes + _work(n, begin=n))


def overlapping_gpu_annotations(n):
    notes = [_event("gpu_user_annotation", f"ProfilerStep#{i}", 10 * i, 10 * n, pid=0, tid=7) for i in range(n)]
    return _trace(notes + _work(n))


def steps_and_kernels(n):
    steps = [_event("user_annotation", f"ProfilerStep#{i}", 100 * i, 100) for i in range(n // 10)]
    return _trace(steps + _work(n))


def steps_on_many_threads(n):
    steps = [_event("user_annotation", f"ProfilerStep#{i}", 100 * i, 100, tid=i) for i in range(n // 10)]
    return _trace(steps + _work(n))


def nested_operators(n):
    events = [_event("cpu_op", f"aten::op{i % 5}", i, 40 * n - 2 * i) for i in range(n)]
    return _trace(events + _work(n, begin=n))


def one_name_nested_operators(n):
    events = [_event("cpu_op", "aten::linear", i, 40 * n - 2 * i) for i in range(n)]
    return _trace(events + _work(n, begin=n))


def nested_operators_with_names(n):
    events = [_event("cpu_op", f"module.{i}", i, 40 * n - 2 * i) for i in range(n)]
    return _trace(events + _work(n, begin=n))


def nested_backward(n):
    events = [_event("cpu_op", f"autograd::engine::evaluate_function: Op{i % 9}Backward0", i, 40 * n - 2 * i,
                     **{"External id": i + 1, "Sequence number": i, "Fwd thread id": 1}) for i in range(n)]
    return _trace(events + _work(n, begin=n))


def nested_runtime_calls(n):
    return _trace([_launch(i, i + 1) | {"dur": 4 * n - 2 * i} for i in range(n)]
                  + [_kernel("k", 4 * n + i, 1, i + 1) for i in range(n)])


def nested_python(n):
    events = [_event("python_function", f"file.py({i}): f", i, 40 * n - 2 * i,
                     **{"Python id": i, "Python parent id": i - 1}) for i in range(n)]
    return _trace(events + _work(n, begin=n))


def nested_modules(n):
    events = [_event("python_function", f"nn.Module: Block_{i}", i, 40 * n - 2 * i,
                     **{"Python id": i, "Python parent id": i - 1, "Python module id": i}) for i in range(n)]
    return _trace(events + _work(n, begin=n))


def staircase_operators(n):
    return _trace([_event("cpu_op", f"aten::op{i % 5}", 10 * i, 10 * n) for i in range(n)] + _work(n))


def staircase_calls(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, i + 1) | {"dur": 10 * n})
        events.append(_kernel("k", 20 * n + i, 1, i + 1))
    return _trace(events)


def overlapping_kernels(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, i + 1))
        events.append(_kernel(f"kernel_{i % 7}", 10 * i + 5, 10 * n, i + 1, stream=i % 40))
    return _trace(events)


def streams(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, i + 1))
        events.append(_kernel("k", 10 * i + 5, 4, i + 1, stream=i))
    return _trace(events)


def one_timestamp(n):
    events = [_event("cpu_op", f"aten::op{i % 5}", 5, 0) for i in range(n)]
    return _trace(events + [_launch(5, i + 1) for i in range(n)] + [_kernel("k", 5, 0, i + 1) for i in range(n)])


def one_interval(n):
    events = [_event("cpu_op", f"aten::op{i % 5}", 5, 10) for i in range(n)]
    return _trace(events + [_launch(5, i + 1) | {"dur": 10} for i in range(n)]
                  + [_kernel("k", 15, 10, i + 1) for i in range(n)])


def decreasing_times(n):
    return _trace([_event("cpu_op", f"aten::op{i % 5}", 10 * (n - i), 5) for i in range(n)] + _work(n)[::-1])


def one_flow_id(n):
    flows = []
    for i in range(n):
        flows.append({"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 10 * i, "cat": "ac2g", "name": "ac2g"})
        flows.append({"ph": "f", "id": 1, "pid": 0, "tid": 7, "ts": 10 * i + 5, "cat": "ac2g", "name": "ac2g", "bp": "e"})
        flows.append({"ph": "s", "id": 2, "pid": 1, "tid": 1, "ts": 10 * i, "cat": "fwdbwd", "name": "fwdbwd"})
        flows.append({"ph": "f", "id": 2, "pid": 1, "tid": 2, "ts": 10 * i, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"})
    return _trace(flows + _work(n))


def begins_without_end(n):
    return _trace([{"ph": "B", "name": f"b{i}", "pid": 1, "tid": 1, "ts": i, "cat": "cpu_op"} for i in range(n)])


def ends_without_begin(n):
    return _trace([{"ph": "E", "pid": 1, "tid": 1, "ts": i} for i in range(n)] + _work(10))


def nested_begin_end(n):
    return _trace([{"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": i, "cat": "cpu_op"} for i in range(n)]
                  + [{"ph": "E", "pid": 1, "tid": 1, "ts": n + i} for i in range(n)])


def threads(n):
    return _trace([_event("cpu_op", "aten::mm", 10 * i, 5, tid=i) for i in range(n)]
                  + [_launch(10 * i, i + 1, tid=i) for i in range(n)] + [_kernel("k", 10 * i + 5, 4, i + 1) for i in range(n)])


def processes(n):
    return _trace([{"ph": "M", "name": "process_name", "pid": i, "tid": 0, "ts": 0, "args": {"name": f"p{i}"}} for i in range(n)]
                  + [_event("cpu_op", "aten::mm", 10 * i, 5, pid=i) for i in range(n)])


def one_long_name(n):
    return _trace([_event("cpu_op", "a" * n, 0, 5)] + _work(3))


def one_long_kernel_name(n):
    return _trace(_work(3) + [_launch(90, 9), _kernel("void k<" * (n // 14) + ">(int)" * (n // 14), 91, 5, 9)])


def long_step_name(n):
    return _trace(_work(3) + [_event("user_annotation", "ProfilerStep#" + "1" * n, 0, 500)])


def long_names(n):
    return _trace([_event("cpu_op", f"{i}" + "a" * 2000, 10 * i, 5) for i in range(n)] + _work(3))


def kernel_names(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, i + 1))
        events.append(_kernel(f"void at::native::kernel_{i}<float, {i}>(int)", 10 * i + 5, 4, i + 1))
    return _trace(events)


def annotation_names(n):
    notes = [_event("user_annotation", f"part {i}", 10 * i, 10) for i in range(n)]
    return _trace(notes + _work(n))


def launch_of_many_kernels(n):
    return _trace([_launch(1, 5)] + [_kernel(f"kernel_{i % 7}", 10 + 3 * i, 2, 5) for i in range(n)])


def synchronizations(n):
    events = _work(n)
    for i in range(n):
        events.append(_event("cuda_runtime", "cudaStreamSynchronize", 10 * i + 2, 7))
    return _trace(events)


def overlapping_synchronizations(n):
    events = _work(n)
    for i in range(n):
        events.append(_event("cuda_runtime", "cudaDeviceSynchronize", 10 * i + 2, 10 * n, tid=i % 30))
    return _trace(events)


def collectives(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, i + 1))
        events.append(_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 10 * i + 5,
                              10 * n, i + 1, stream=i % 3))
    return _trace(events, distributedInfo={"backend": "nccl", "rank": 0, "world_size": 2})


def tensor_operators(n):
    dims = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"], "Input Strides": [[64, 1], [64, 1]],
            "Concrete Inputs": ["", ""]}
    names = ["aten::mm", "aten::gelu", "aten::mul", "aten::add", "aten::linear", "aten::copy_"]
    events = []
    for i in range(n):
        events.append(_event("cpu_op", names[i % 6], 10 * i, 9, **dims, **{"External id": i + 1}))
        events.append(_launch(10 * i + 2, i + 1))
        events.append(_kernel(f"kernel_{i % 7}", 10 * i + 5, 4, i + 1))
    return _trace(events)


def allocations(n):
    events = [{"ph": "i", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": i, "s": "t",
               "args": {"Device Type": 1, "Device Id": 0, "Addr": i % 100, "Bytes": 64, "Total Allocated": i}} for i in range(n)]
    return _trace(events + [_event("cpu_op", "aten::empty", i, 40 * n - 2 * i) for i in range(n)])


# The host runs ahead: the kernels of all steps run after the last step.
def late_kernels(n):
    steps = [_event("user_annotation", f"ProfilerStep#{i}", 100 * i, 100) for i in range(n // 10)]
    events = []
    for i in range(n):
        events.append(_launch(10 * i, i + 1))
        events.append(_kernel(f"kernel_{i % 7}", 20 * n + 10 * i, 4, i + 1))
    return _trace(steps + events)


def devices(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, i + 1))
        events.append(_event("kernel", "k", 10 * i + 5, 4, tid=7, pid=i, correlation=i + 1, stream=7, device=i))
    return _trace(events)


# Operators of one thread that almost repeat: a Fibonacci word.
def almost_repeating_operators(n):
    word = "a"
    last = "b"
    while len(word) < n:
        word, last = word + last, word
    return _trace([_event("cpu_op", f"aten::op_{word[i]}", 10 * i, 5) for i in range(n)] + _work(3))


def ids_far_apart(n):
    events = []
    for i in range(n):
        events.append(_launch(10 * i, 1 + i * 172933))
        events.append(_kernel("k", 10 * i + 5, 4, 1 + i * 172933))
    return _trace(events)


# The name, the function, and about how many bytes the trace grows with n, of each case.
def cases():
    makers = {name: value for name, value in globals().items() if callable(value) and not name.startswith("_") and name not in ("cases", "write_all")}
    return [(name, make, (len(make(400)) - len(make(200))) / 200) for name, make in makers.items()]


def write_all(folder, size):
    for name, make, bytes_per_n in cases():
        with open(f"{folder}/bad_{name}.json", "wb") as file:
            file.write(make(max(2, int(size / bytes_per_n))))


if __name__ == "__main__":
    write_all(sys.argv[1], int(sys.argv[2]))
