#!/usr/bin/env python3
"""Sets the emulator's counts beside a GPU's, for the kernels of tests_trace.cu.

On a machine with an NVIDIA GPU and ncu, after `cmake --workflow --preset gpu`:

    common/emulator/compare/compare.py build/gpu/bin > docs/results/emulator_against_ncu.csv
"""
import csv
import io
import subprocess
import sys

# ncu's name -> (memory, operation, quantity)
METRICS = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": ("global", "load", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("global", "load", "sectors"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": ("global", "store", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("global", "store", "sectors"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": ("global", "atomic", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum": ("global", "atomic", "sectors"),
    "smsp__sass_inst_executed_op_shared_ld.sum": ("shared", "load", "requests"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": ("shared", "load", "passes"),
    "smsp__sass_inst_executed_op_shared_st.sum": ("shared", "store", "requests"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": ("shared", "store", "passes"),
    "smsp__inst_executed_op_shared_atom.sum": ("shared", "atomic", "requests"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum": ("shared", "atomic", "passes"),
}


def run(command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "build/gpu/bin"
    emulated = list(csv.DictReader(io.StringIO(run([f"{folder}/emulator_counts"]))))
    cases = list(dict.fromkeys(row["case"] for row in emulated))

    text = run(["ncu", "--clock-control", "none", "--csv", "--metrics", ",".join(METRICS),
                f"{folder}/emulator_counts_cuda"])
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"'):]))
    counted = {}  # (launch, memory, operation, quantity) -> number
    for row in rows:
        key = METRICS.get(row["Metric Name"])
        if key and row["Metric Value"] not in ("", "n/a"):
            counted[(int(row["ID"]), *key)] = int(float(row["Metric Value"].replace(",", "")))

    gpu = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).strip()
    print(f"# {gpu}; {run(['ncu', '--version']).strip().splitlines()[-1]}")
    print("case,memory,operation,quantity,emulator,gpu")
    for row in emulated:
        for quantity in ("requests", "sectors" if row["memory"] == "global" else "passes"):
            key = (cases.index(row["case"]), row["memory"], row["operation"], quantity)
            print(",".join([row["case"], row["memory"], row["operation"], quantity, row[quantity],
                            str(counted.get(key, ""))]))


if __name__ == "__main__":
    main()
