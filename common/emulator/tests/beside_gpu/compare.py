#!/usr/bin/env python3
"""Compares the emulator's counts with a GPU's, for the kernels of trace.cu.

On a machine with an NVIDIA GPU and ncu, after `cmake --workflow --preset gpu`:

    common/emulator/tests/beside_gpu/compare.py build/gpu/bin > common/emulator/tests/beside_gpu/h200.csv
    common/emulator/tests/beside_gpu/compare.py build/gpu/bin --atomics > common/emulator/tests/beside_gpu/atomics_h200.csv

The second collects more metrics of atomics: where on the way to memory the updates of one word by
several lanes of a warp are combined.
"""
import csv
import io
import subprocess
import sys

# ncu's name -> (memory, operation, quantity); metrics with the same value are added
METRICS = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": ("global", "load", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("global", "load", "sectors"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": ("global", "store", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("global", "store", "sectors"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": ("global", "atomic", "requests"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum": ("global", "atomic", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum": ("global", "atomic", "sectors"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum": ("global", "atomic", "sectors"),
    "smsp__sass_inst_executed_op_shared_ld.sum": ("shared", "load", "requests"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": ("shared", "load", "passes"),
    "smsp__sass_inst_executed_op_shared_st.sum": ("shared", "store", "requests"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": ("shared", "store", "passes"),
    "smsp__inst_executed_op_shared_atom.sum": ("shared", "atomic", "requests"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum": ("shared", "atomic", "passes"),
}

# red: result unused; atom: returns the old value. Ordered by distance from the warp.
ATOMICS = [
    "smsp__inst_executed_op_global_red.sum",
    "smsp__inst_executed_op_global_atom.sum",
    "smsp__inst_executed_op_shared_atom.sum",
    "smsp__inst_executed_op_shared_atom_dot_alu.sum",
    "smsp__inst_executed_op_shared_atom_dot_cas.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_set_accesses_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_red.sum",
    "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_atom.sum",
    "lts__t_requests_srcunit_tex_op_red.sum",
    "lts__t_requests_srcunit_tex_op_atom.sum",
    "lts__t_sectors_srcunit_tex_op_red.sum",
    "lts__t_sectors_srcunit_tex_op_atom.sum",
    "lts__d_atomic_input_cycles_active.sum",
]


def run(command, check=True):
    return subprocess.run(command, check=check, text=True, stdout=subprocess.PIPE).stdout


def profile(folder, metrics, *options):
    """[(launch, metric, number)]; profiled launches are counted from 0."""
    text = run(["ncu", "--clock-control", "none", "--csv", "--metrics", ",".join(metrics), *options,
                f"{folder}/emulator_counts_cuda"])
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"'):]))
    return [(int(row["ID"]), row["Metric Name"],
             int(float(row["Metric Value"].replace(",", ""))))
            for row in rows if row["Metric Value"] not in ("", "n/a")]


def known(metrics):
    """The metrics that this GPU has; prints the others to stderr."""
    listed = set(run(["ncu", "--query-metrics"], check=False).split())
    if not listed:
        return metrics
    missing = [m for m in metrics if m.rsplit(".", 1)[0] not in listed]
    for metric in missing:
        print(f"not on this GPU: {metric}", file=sys.stderr)
    return [m for m in metrics if m not in missing] or metrics


def print_counts(folder, emulated, cases):
    counted = {}  # (launch, memory, operation, quantity) -> number
    for launch, metric, number in profile(folder, METRICS):
        if metric in METRICS:
            key = (launch, *METRICS[metric])
            counted[key] = counted.get(key, 0) + number
    print("case,memory,operation,quantity,emulator,gpu")
    for row in emulated:
        for quantity in ("requests", "sectors" if row["memory"] == "global" else "passes"):
            key = (cases.index(row["case"]), row["memory"], row["operation"], quantity)
            print(",".join([row["case"], row["memory"], row["operation"], quantity, row[quantity],
                            str(counted.get(key, ""))]))


def print_atomics(folder, cases):
    cases = [case for case in cases if "atomics" in case]
    table = {metric: [""] * len(cases) for metric in ATOMICS}
    for launch, metric, number in profile(folder, known(ATOMICS), "--kernel-name",
                                          "regex:atomics"):
        if metric in table:
            table[metric][launch] = str(number)
    print(",".join(["metric", *cases]))
    for metric, numbers in table.items():
        print(",".join([metric, *numbers]))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--atomics"]
    folder = arguments[0] if arguments else "build/gpu/bin"
    emulated = list(csv.DictReader(io.StringIO(run([f"{folder}/emulator_counts"]))))
    cases = list(dict.fromkeys(row["case"] for row in emulated))
    gpu = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).strip()
    print(f"# {gpu}; {run(['ncu', '--version']).strip().splitlines()[-1]}")
    if "--atomics" in sys.argv:
        print_atomics(folder, cases)
    else:
        print_counts(folder, emulated, cases)


if __name__ == "__main__":
    main()
