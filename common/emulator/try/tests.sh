#!/usr/bin/env bash
# Tests of `common/learn try`, `install`, `wheel` and `debug`: tests.sh <build folder for these tests>
# shellcheck disable=SC2016  # kernels are written in single quotes
set -euo pipefail

# Depends only on the tools that a build needs: the rest of the environment is removed.
if [[ ${1:-} != --clean ]]; then
    kept=(PATH="$PATH" HOME=/nonexistent)
    for name in TMPDIR LDFLAGS; do if [[ ${!name:-} ]]; then kept+=("$name=${!name}"); fi; done
    exec "$(type -P env)" -i "${kept[@]}" "$BASH" "${BASH_SOURCE[0]}" --clean "$@"
fi
shift

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$1"
SIXDAYS_TRY_FOLDER=$(cd -- "$1" && pwd)
export SIXDAYS_TRY_FOLDER
mkdir -p "$scratch/a folder"
cd "$scratch/a folder"

failures=0
complain() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    sed 's/^/    out: /' "$scratch/out"
    sed 's/^/    err: /' "$scratch/err"
}
# tries <test name> <status> <complete stdout> <regular expression for stderr, or -> <argument>...
tries() {
    local what=$1 wanted=$2 out=$3 err=$4 status=0
    shift 4
    echo "a line" | "$root/common/learn" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    if ((status != wanted)); then complain "$what: status $status, not $wanted"; fi
    if [[ $(<"$scratch/out") != "$out" ]]; then complain "$what: stdout is not \"$out\""; fi
    if [[ $err == - ]]; then
        if grep -qv '^Building\|^  [0-9]* of \|^  [0-9]* steps, \|^Another common/learn (try, \|^Another common/learn is ' "$scratch/err"; then complain "$what: stderr is not empty"; fi
    else
        grep -qE -- "$err" "$scratch/err" || complain "$what: stderr has no \"$err\""
    fi
}

cat >helper.cuh <<'END'
#pragma once
template <class T>
__device__ T swapped(T value) {
    __shared__ T all[32];
    all[threadIdx.x] = value;
    __syncthreads();
    return all[31 - threadIdx.x];
}
END
cat >right.cu <<'END'
#include <cstdlib>
#include <iostream>
#include <string>
#include "helper.cuh"
#ifndef N
#define N 0
#endif
__global__ void reverse(const int* in, int* out) {
    out[threadIdx.x] = swapped(in[threadIdx.x]);
}
int main(int argc, char** argv) {
    std::string line;
    std::getline(std::cin, line);
    int in[32], out[32], *device;
    for (int i = 0; i < 32; ++i) in[i] = i + N;
    cudaMalloc(&device, 2 * sizeof(in));
    cudaMemcpy(device, in, sizeof(in), cudaMemcpyHostToDevice);
    reverse<<<1, 32>>>(device, device + 32);
    cudaMemcpy(out, device + 32, sizeof(out), cudaMemcpyDeviceToHost);
    cudaFree(device);
    std::cout << line << ' ' << out[0];
    for (int i = 1; i < argc; ++i) std::cout << ' ' << argv[i];
    return argc > 1 ? std::atoi(argv[1]) : 0;
}
END
tries "a correct program gets its input and prints its output" 0 "a line 131" - try -DN=100 right.cu
tries "arguments and status" 3 "a line 31 3 x y" - try -DN=0 right.cu 3 "x y"
tries "the access report" 0 "a line 31" "load, right.cu:9, reverse" try --trace -DN=0 right.cu
tries "options after the file" 0 "a line 31" "load, right.cu:9" try -DN=0 right.cu --trace
echo '__global__ void count() {
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    atomicAdd(&n, 1);
}
int main() { count<<<1, 32>>>(); cudaDeviceSynchronize(); }' >count.cu
tries "atomics to one word" 0 "" "shared atomic in count.cu:5 .*Atomics on one word are serialized" try --explain count.cu
tries "options for the program" 0 "a line 31 --trace" - try -DN=0 right.cu -- --trace

cat >wrong.cu <<'END'
#include <cstdio>
__global__ void over(float* a) { a[threadIdx.x] = 1; }
__global__ void again(float* a) {
    a[threadIdx.x + 1] = 1;
}
int main() {
    float* a;
    cudaMalloc(&a, 32 * sizeof(float));
    over<<<1, 33>>>(a);
    std::puts(cudaGetErrorString(cudaGetLastError()));
    over<<<1, 33>>>(a);
    std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
    cudaGetLastError();
    again<<<1, 32>>>(a);
    cudaFree(a);
}
END
bad='an illegal memory access was encountered'
tries "reports of a program that ignores errors" 1 "$bad"$'\n'"$bad" \
    'over, .*wrong.cu:2: thread \(32,0,0\) of block' try wrong.cu
grep -q 'again, .*wrong.cu:4: thread (31,0,0)' "$scratch/err" || complain "the second finding"
if (($(grep -c 'wrong.cu:2' "$scratch/err") != 1)); then complain "each bug is reported once"; fi

rejects() { tries "$1" 1 "" "^wrong.cu:$2: $3" try wrong.cu; }
echo '#include <cusparse.h>
int main() {}' >wrong.cu
rejects "a header of CUDA" 1 'the emulator does not have cusparse.h'
echo '#include "nowhere.h"
int main() {}' >wrong.cu
rejects "a header of nobody" 1 'there is no nowhere.h'
echo 'int main() {
    cudaGetDriverEntryPoint();
}' >wrong.cu
rejects "a call" 2 'the emulator does not have cudaGetDriverEntryPoint'
echo '__global__ void k(int* a) {
    asm volatile("match.any.sync.b32 %0, %0, -1;" : "=r"(*a));
}
int main() { k<<<1, 1>>>(nullptr); }' >wrong.cu
rejects "inline PTX" 2 'inline PTX \(match.any.sync.b32\) does not run on the emulator'
echo '#include <cooperative_groups.h>
__global__ void __cluster_dims__(2, 1, 1) k(int* out) {
    __shared__ int mine;
    auto cluster = cooperative_groups::this_cluster();
    mine = 7 + blockIdx.x;
    cluster.sync();
    out[blockIdx.x] = *cluster.map_shared_rank(&mine, blockIdx.x ^ 1);
}
int main() {
    int* out;
    cudaMalloc(&out, 2 * sizeof(int));
    k<<<2, 1>>>(out);
    cudaFree(out);
}' >wrong.cu
tries "a cluster" 1 "" "wrong.cu:7: .* is a cluster.sync\(\) that all blocks reach missing at the end" try wrong.cu
echo '__global__ int k() { return 1; }
int main() {}' >wrong.cu
rejects "a kernel that returns" 1 'the kernel k returns int'
echo 'int main() { int x = "1"; }' >wrong.cu
tries "invalid C++" 1 "" "wrong.cu:1:22: error: invalid conversion" try wrong.cu
echo 'void f(int); int main() { f(1); }' >wrong.cu
tries "a missing function" 1 "" "^f\(int\) is called, but not defined" try wrong.cu

tries "no file" 2 "" "There is no file nothing.cu" try nothing.cu
tries "no program" 2 "" "helper.cuh has no main" try helper.cuh
tries "an unknown flag" 2 "" "Unknown option --fast" try --fast right.cu
# A fake nvcc whose programs print their compile command, and a fake GPU, once enabled.
mkdir bin
printf '#!/bin/sh\nexit 9\n' >bin/nvidia-smi
fake_nvcc() {  # fake_nvcc <file> <version> [<status of the compiled program>]
    mkdir -p "$(dirname -- "$1")"
    cat >"$1" <<END
#!/bin/bash
if [[ \$1 == --version ]]; then echo "Cuda compilation tools, release $2, V$2.1" && exit; fi
words="\$*"
while [[ \$1 != -o ]]; do shift; done
printf '#!/bin/bash\necho "%s" "\$@"; exit ${3:-0}\n' "$2 \${words/"\$2"//on_gpu}" >"\$2"
chmod +x "\$2"
END
    chmod +x "$1"
}
fake_nvcc bin/nvcc 13.0 3
chmod +x bin/nvidia-smi
before=$PATH PATH=$PWD/bin:$PATH
tries "no GPU" 2 "" "No GPU was found" try --gpu -DN=0 right.cu
printf '#!/bin/sh\necho "A GPU, 9.0, 580.1"\n' >bin/nvidia-smi
tries "a GPU" 3 "13.0 -std=c++20 -O3 -lineinfo -arch=native -I$root -DN=7 -o /on_gpu right.cu x y" - \
    try -DN=7 --gpu right.cu -- x y
tries "--gpu after the file" 3 \
    "13.0 -std=c++20 -O3 -lineinfo -arch=native -I$root -o /on_gpu right.cu" - \
    try right.cu --gpu
PATH=$before

tries "the example of the pages" 1 $'0\n0\n0\n0' 'row_sums.cu:14: .* __syncthreads' \
    try "$root/docs/examples/row_sums.cu"
# README.md opens with exactly this output, apart from line breaks.
words() { sed "s|$root/||g" | tr -s '[:space:]' ' '; }
readme=$(sed -n '/^```text try_row_sums.txt/,/^```$/{/^```/d;p}' "$root/README.md" | words)
said=$({ cat "$scratch/out" && grep -v '^Building\|^  [0-9]* of \|^  [0-9]* steps, ' "$scratch/err"; } | words)
if [[ $said != "$readme" ]]; then complain "README.md does not quote this output of try: $said"; fi
tries "Day 01 without our helpers" 0 'All 1000 sums are right; the last is 2997.' - \
    try "$root/day01_flat_memory/standalone.cu"

# Tile programs in published style: correct, and not reported.
tries "an addition in tiles" 0 "3072 of 3072 sums are right" - try "$root/common/emulator/try/tiles/vector_add.cu"
tries "products in tiles" 0 "wrong elements: 0, 0 and 0" - try "$root/common/emulator/try/tiles/matmul.cu"
tries "layer norm in tiles" 0 "wrong elements: 0" - try "$root/common/emulator/try/tiles/layer_norm.cu"

cat >unset.cu <<'END'
__global__ void sums(const int* in, int n, int* out) {
    int sum;
    for (int i = 0; i < n; ++i) sum += in[i];
    out[threadIdx.x] = sum;
}
// The compiler cannot know that n > 0: no mistake, and not accused.
__global__ void largest(const int* in, int n, int* out) {
    int best, at;
    for (int i = 0; i < n; ++i)
        if (i == 0 || in[i] > best) best = in[i], at = i;
    out[threadIdx.x] = at;
}
int main(int argc, char**) {
    int* all;
    cudaMalloc(&all, 64 * sizeof(int));
    cudaMemset(all, 0, 64 * sizeof(int));
    if (argc > 1) sums<<<1, 32>>>(all, 8, all + 32);
    largest<<<1, 32>>>(all, 8, all + 32);
    cudaFree(all);
}
END
tries "a correct use of a local variable that the compiler cannot track" 0 "" - try unset.cu
tries "a local variable that is read before it is set" 1 "" \
    'sums, unset.cu:3: thread \(0,0,0\) .* local variable `sum`, which has no value yet\. On a GPU it holds whatever was in the register before' \
    try unset.cu 1
echo '__global__ void one(int* out) {
    int sum;
    if (out[32] == 77) sum = 1;
    out[threadIdx.x] = sum;
}
int main() {
    int* all;
    cudaMalloc(&all, 64 * sizeof(int));
    cudaMemset(all, 0, 64 * sizeof(int));
    one<<<1, 32>>>(all);
    cudaFree(all);
}' >unset.cu
tries "a local variable that only one path initializes" 1 "" 'one, unset.cu:4: .* local variable `sum`, which has no value' try unset.cu

cat >unset.cu <<'END'
// Set in two turns, or in a branch that the compiler cannot follow; padding; a switch, a lambda, a template.
struct Padded { char letter; double number; };
template <class T>
__device__ T sum_of(const T* in, int n) {
    T sum;
    for (int i = 0; i < n; ++i) sum = i == 0 ? in[0] : sum + in[i];
    return sum;
}
__global__ void right(const float* in, float* out, int what) {
    float all[2][3], *p, one;
    for (int i = 0; i < 6; ++i) all[i / 3][i % 3] = in[i];
    const auto add = [&](int i) { float x; x = all[1][i]; return x + all[0][i]; };
    switch (what) {
        case 0: float y; y = 1; one = y; break;
        default: one = 0;
    }
    p = &one;
    Padded a, b;
    a.letter = 'a', a.number = sum_of(in, 6);
    b = a;
    out[threadIdx.x] = add(threadIdx.x % 3) + *p + b.number;
}
__global__ void wrong(const float* in, float* out) {
    float acc[2][4];
    for (int i = 0; i < 7; ++i) acc[i / 4][i % 4] = in[i];
    out[threadIdx.x] = acc[1][threadIdx.x];
}
int main(int argc, char**) {
    float* all;
    cudaMalloc(&all, 512);
    cudaMemset(all, 0, 512);
    right<<<1, 32>>>(all, all + 64, argc);
    if (argc > 1) wrong<<<1, 4>>>(all, all + 64);
    cudaFree(all);
}
END
tries "local variables that are initialized in many ways" 0 "" - try unset.cu
tries "an uninitialized element of a local array" 1 "" \
    'wrong, unset.cu:26: thread \(3,0,0\) .* element 7 of its local array `acc`, which has no value yet' try unset.cu 1

# However the program ends, the bug has been reported before, and the status is never 0.
cat >ends.cu <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
__global__ void over(int* a) { a[threadIdx.x] = 1; }
struct Pool {
    int* memory;
    Pool() { cudaMalloc(&memory, 64); }
    ~Pool() { std::printf("%d", cudaFree(memory)); }
} pool;
int main(int, char** argv) {
    over<<<1, atoi(argv[2])>>>(pool.memory);
    if (!strcmp(argv[1], "abort")) std::abort();
    if (!strcmp(argv[1], "_exit")) _exit(0);
    if (!strcmp(argv[1], "quick_exit")) std::quick_exit(0);
    if (!strcmp(argv[1], "crash")) *static_cast<volatile int*>(nullptr) = 1;
}
END
for ending in "abort 134" "_exit 1" "quick_exit 1" "crash 139"; do
    tries "a finding, then ${ending% *}" "${ending#* }" "" 'over, ends.cu:5: .*element 16 of' try ends.cu "${ending% *}" 17
done
grep -qx 'emulator, note: ends.cu:16: host code writes at address 0x0, where there is no memory: a null pointer.' "$scratch/err" ||
    complain "where it crashes"
grep -qx 'The program was terminated by signal SIGSEGV.' "$scratch/err" || complain "which signal"
tries "a report, then destructors" 1 "700" 'over, ends.cu:5: .*element 16 of' try ends.cu return 17
tries "CUDA before main and after it" 0 "0" - try ends.cu return 16

# Two host threads launch and copy; a third one never calls CUDA.
cat >threads.cu <<'END'
#include <cstdio>
#include <thread>
#include <vector>
__global__ void add(int* a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += 1;
}
int main() {
    bool right[2];
    std::vector<std::thread> all;
    for (int t = 0; t < 2; ++t) all.emplace_back([t, &right] {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        int* a;
        cudaMalloc(&a, 4000);
        cudaMemsetAsync(a, 0, 4000, stream);
        for (int i = 0; i < 50; ++i) add<<<4, 256, 0, stream>>>(a, 1000);
        std::vector<int> h(1000);
        cudaStreamSynchronize(stream);
        cudaMemcpy(h.data(), a, 4000, cudaMemcpyDeviceToHost);
        right[t] = h == std::vector<int>(1000, 50);
        cudaFree(a);
        cudaStreamDestroy(stream);
    });
    std::vector<int> squares(100000);
    for (int i = 0; i < 100000; ++i) squares[i] = i % 1000 * (i % 1000);
    for (std::thread& one : all) one.join();
    std::printf("%d %d %d", right[0], right[1], squares[99999]);
}
END
tries "three threads of the host" 0 "1 1 998001" - try threads.cu

cat >waits.cu <<'END'
#include <cstdio>
__global__ void fill(int* a, float big) {
    a[threadIdx.x] = static_cast<int>(big);
    printf("%d ", __float2int_rz(big));
}
int main(int argc, char**) {
    int* a;
    cudaMallocManaged(&a, 8);
    fill<<<1, 1>>>(a, 1e10f);
    if (argc > 1) cudaDeviceSynchronize();
    if (argc > 2) return a[0] == 0;
    fill<<<1, 1>>>(a + 1, 7);
}
END
tries "a float that does not fit an int, and a host that does not wait" 0 "2147483647 7 " \
    "^emulator, note: the program ends without waiting for fill, started in waits.cu:12" try waits.cu 1
grep -qx "emulator, note: waits.cu:3: 1e+10 is converted to 'int', which cannot represent it. .* a GPU gives 2147483647.*" \
    "$scratch/err" || complain "what a GPU gives"
sed -i 's/if (argc > 2)/if (argc > 1)/; s/if (argc > 1) cudaDev/if (argc > 2) cudaDev/' waits.cu
tries "managed memory before the host waits" 1 "2147483647 " 'waits.cu:11: host code reads managed memory, at element 0' \
    try waits.cu 1
tries "managed memory after the host waits" 0 "2147483647 " "note: waits.cu:3" try waits.cu 1 2

cat >five.cu <<'END'
__global__ void past(float* a) { a[threadIdx.x + 1] = 1; }
__global__ void row(float* a) {
    __shared__ float tile[4][8];
    tile[threadIdx.x / 8][threadIdx.x % 8 + 1] = 1;
    a[threadIdx.x] = 1;
}
__global__ void race(float* a) { *a = threadIdx.x; }
__global__ void branch(float* a) {
    if (threadIdx.x < 8) __syncthreads();
    a[threadIdx.x] = 1;
    __syncthreads();
}
__global__ void reads(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
int main() {
    float *few, *some, *other;
    cudaMalloc(&few, 32);
    cudaMalloc(&some, 32 * sizeof(float));
    past<<<1, 32>>>(few);
    row<<<1, 32>>>(some);
    race<<<1, 32>>>(some);
    branch<<<1, 32>>>(some);
    reads<<<1, 32>>>(some, some);
    cudaMalloc(&other, 32 * sizeof(float));
    reads<<<1, 32>>>(other, some);
    cudaFree(few), cudaFree(some), cudaFree(other);
}
END
tries "several bugs, without reports of their consequences" 1 "" 'takes a size in bytes: it was called with 32' try five.cu
for said in 'past, five.cu:1: .*`a`, allocated as `few` in five.cu:16' 'row, five.cu:4: .*index 8 in' \
    'race, five.cu:7' 'branch, five.cu:11: .*threads 8-31 never reached that one' 'reads, five.cu:13'; do
    grep -q -- "$said" "$scratch/err" || complain "five findings: \"$said\""
done
if (($(grep -c '^emulator: ' "$scratch/err") != 5)); then complain "exactly five reports"; fi

cat >helped.cu <<'END'
__device__ float warp_sum(float x) {
    for (int by = 16; by > 0; by /= 2)
        x += __shfl_down_sync(~0u, x, by);
    return x;
}
__global__ void sums(float* a) {
    float x = 1;
    if (threadIdx.x < 16)
        x = warp_sum(x);
    a[threadIdx.x] = x;
}
int main() {
    float* a;
    cudaMalloc(&a, 32 * sizeof(float));
    sums<<<1, 32>>>(a);
    cudaFree(a);
}
END
tries "a bug in a helper of the file is reported with its caller" 1 "" \
    'sums, helped.cu:3, called from line 9: thread \(0,0,0\).* lane 16' try helped.cu

# --json: all reports in one document, in a file or on stdout.
cat >json.cu <<'END'
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
__global__ void stores(int* a) {
    *a = threadIdx.x;
}
int main(int argc, char** argv) {
    int* a;
    cudaMalloc(&a, 4);
    if (argc > 1) stores<<<1, 32>>>(a);
    if (argc > 1) cudaFree(a + 1);
    std::puts("out"), std::fputs("err\n", stderr), std::fflush(stdout);
    for (int file = 11; file < 100; ++file) {  // 10 is /dev/null, by bash
        if (fcntl(file, F_GETFD) >= 0) std::printf("%d is open\n", file);
    }
    if (argc > 3) pause();
    if (argc > 2) std::abort();
}
END
json=$scratch/json
# document <outcome> <status> <patterns for text, findings and notes>...
document() {
    local text kinds=${4//[!\{]/}
    text=$(<"$json")
    if ((${#kinds} != $(grep -c '"kind"' "$json"))); then complain "another number of findings: $text"; fi
    # shellcheck disable=SC2053  # patterns
    if [[ $text != '{'*'"outcome": "'"$1"'",'*'"status": '"$2"','*'"text": '$3','*'"findings": ['$4'],'*'"notes": ['$5']'*'}' ]]; then
        complain "a document with outcome $1: $text"
    fi
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' "$json" || complain "no JSON: $text"
    fi
}
found='*{"kind": "race", "file": "json.cu", "line": 6, "kernel": "stores",*"text": "stores, json.cu:6: *"},*'
found+='{"kind": "invalid_call", "file": "json.cu", "line": 12, "kernel": null,*"text": "json.cu:12: *"}'
tries "findings as JSON" 1 out '^err$' try --json="$json" json.cu 1
document findings 1 null "$found" ""
if [[ $(<"$scratch/err") == *emulator:* ]]; then complain "with --json=FILE, stderr is the program's"; fi
for ((i = 0; i < 2; ++i)); do
    CUDATRY_FOLDER=$scratch/kept "$SIXDAYS_TRY_FOLDER/installed/bin/cudatry" --json="$json" json.cu 1 >"$scratch/out" 2>"$scratch/err" || true
done
document findings 1 null "$found" ""
tries "findings as JSON, then SIGABRT" 134 out '^err$' try --json="$json" json.cu 1 2
document findings 134 '"The program was terminated by signal SIGABRT."' "$found" ""
"$root/common/learn" try --json json.cu 1 >"$json" 2>"$scratch/err" || true
document findings 1 null "$found" ""
if [[ $(<"$scratch/err") != $'err\nout' ]]; then complain "with --json, the program's stdout goes to stderr"; fi
tries "a note as JSON" 0 out '^err$' try --json="$json" json.cu
document ok 0 null "" '*"1 allocation (4 bytes) * json.cu:10."'
tries "no file, as JSON" 2 "" "There is no file no.cu" try --json="$json" no.cu
document not_run 2 '"There is no file no.cu."' "" ""
echo 'int main() { return 7; }' >seven.cu
tries "a status as JSON" 7 "" - try --json="$json" seven.cu
document failed 7 null "" ""
printf 'int main() { f("\\n \xe9\xc3\xa9"); }\n' >latin1.cu
printf 'int main() { f("\\n \xc3\xa9"); }\n' >utf8.cu
for name in latin1:'[?][?][?]' utf8:$'\xc3\xa9'; do
    tries "$name in JSON" 1 "" "${name%:*}.cu:1:14: error: 'f' was not" try --json="$json" "${name%:*}.cu"
    document compile_error 1 '"*1:14: error: *f(\\"\\\\n '"${name#*:}"'\\");*"' "" ""
done
cp seven.cu kept.cu
tries "a source file in the place of the JSON" 2 "" 'json=kept.cu names no file for the JSON' try --json=kept.cu seven.cu
cmp -s seven.cu kept.cu || complain "the source file is unchanged"
tries "JSON in a missing folder" 2 "" '^Cannot write to no/json\.$' try --json=no/json seven.cu
tries "JSON of a GPU" 2 "" 'cannot be combined' try --json="$json" --gpu seven.cu

set -m  # its own process group
"$root/common/learn" try --json="$json" json.cu 1 2 3 >"$scratch/out" 2>"$scratch/err" &
set +m
until [[ -s $scratch/out || ! -e /proc/$! ]]; do sleep 0.1; done
kill -TERM -- -$! || complain "the program has ended"
wait $! || true
document findings null null "$found" ""

# docs/try.md shows such a document, and explains each kind of finding.
page=$root/docs/try.md
cd "$root"
common/learn try --json docs/examples/mistakes.cu overflow >"$json" 2>"$scratch/err" || true
tries "the examples without a finding" 0 "cudaSuccess: no error" 'note: 1 allocation .* never freed' try docs/examples/mistakes.cu not_freed
cd "$scratch/a folder"
sed -n '/^```json$/,/^```$/{/^```/d;p}' "$page" | cmp - "$json" || complain "docs/try.md does not quote this document: $(<"$json")"
kinds=$(sed -n '/^enum class Kind/,/^}/s|^    \([a-z_]*\),.*|\1|p' "$root/common/emulator/report.hpp")
if [[ $kinds != "$(sed -n '/^| kind /,/^$/s/^| `\([a-z_]*\)` .*/\1/p' "$page")" ]]; then complain "docs/try.md lists each kind"; fi

# The installed command: from another folder, with only g++ and basic tools.
"$root/common/learn" install "$scratch/prefix" >"$scratch/out" 2>"$scratch/err" || complain "install"
grep -q "PATH=\"$scratch/prefix/bin" "$scratch/out" || complain "install says what PATH lacks"
command=$scratch/prefix/bin/cudatry
tools=$PWD/tools
mkdir -p tools headers
for tool in bash env sh g++ ar as ld addr2line awk basename cat cp cut dirname grep head mkdir mktemp mv \
    readlink rm sed sleep sort stat tail tr; do
    ln -sf "$(type -P "$tool")" tools/
done
installed() {  # like tries
    local what=$1 wanted=$2 out=$3 err=$4 status=0
    shift 4
    echo "a line" | PATH=$tools "$command" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    if ((status != wanted)); then complain "installed, $what: status $status, not $wanted"; fi
    if [[ $(<"$scratch/out") != "$out" ]]; then complain "installed, $what: stdout is not \"$out\""; fi
    if [[ $err ]]; then grep -qE -- "$err" "$scratch/err" || complain "installed, $what: stderr has no \"$err\""; fi
}
installed "a correct program" 0 "a line 38" '' -DN=7 right.cu
installed "a race" 1 "" 'race, five.cu:7: thread \(1,0,0\)' five.cu
installed "an unknown option" 2 "" 'Unknown option --fast\. cudatry' --fast right.cu
TMPDIR=/proc installed "no folder to work in" 1 "" '^Cannot create a folder in /proc\. Set TMPDIR' right.cu
installed "the cost of lines" 0 "a line 31" '^1\. The (load|store) in right.cu:9 moves 128 bytes' --explain right.cu
echo 'int twice(int);' >headers/twice.h
printf '#include <twice.h>\nint twice(int x) { return FACTOR * x; }\n' >twice.cpp
printf '__global__ void set(int* a) { *a = 7; }\nvoid set_it(int* a) { set<<<1, 1>>>(a); }\n' >set.cu
echo '#include <twice.h>
#include <cstdio>
void set_it(int* a);
int main() {
    int *a, b;
    cudaMalloc(&a, sizeof(int));
    set_it(a);
    cudaMemcpy(&b, a, sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d", twice(b));
    cudaFree(a);
}' >main.cu
installed "several files, folders and macros" 0 "14" '' -std=c++17 -I headers -DFACTOR=2 main.cu set.cu twice.cpp

# The wheel does the same, from an empty folder with a fresh virtual environment.
test_wheel() {
    local wheel python found='' venv=$scratch/empty/venv
    "$root/common/learn" wheel >"$scratch/out" 2>"$scratch/err" || complain "wheel"
    wheel=$(compgen -G "${SIXDAYS_TRY_FOLDER%/*}/cudatry-*.whl")
    if [[ ! -f $wheel ]]; then complain "exactly one wheel: $wheel" && return; fi
    mkdir "$scratch/empty"
    if ! python3 -m venv "$venv" >/dev/null 2>&1; then
        echo "SKIPPED: python3 has no venv, so the wheel was not installed"
        return
    fi
    "$venv/bin/pip" install -q --no-index "$wheel" >"$scratch/out" 2>"$scratch/err" || complain "pip install"
    command=$venv/bin/cudatry
    cp right.cu helper.cuh five.cu "$scratch/empty"
    cd "$scratch/empty"
    installed "a correct program by the wheel" 0 "a line 38" '' -DN=7 right.cu
    installed "a race by the wheel" 1 "" 'race, five.cu:7: thread \(1,0,0\)' five.cu
    installed "an unknown option of the wheel" 2 "" 'Unknown option --fast\. cudatry' --fast right.cu
    command=$scratch/prefix/bin/cudatry
    cd "$scratch/a folder"
    for python in "$root/build/notebook-venv/bin/python" python3; do
        if "$python" -c 'import ipykernel, nbclient' 2>/dev/null; then found=$python && break; fi
    done
    if [[ -z $found ]]; then
        echo "SKIPPED: nbclient and ipykernel were not found, so no notebook was run"
    else
        "$found" -B "$root/common/emulator/try/notebook_tests.py" "$wheel" >"$scratch/out" 2>"$scratch/err" || complain "notebooks"
    fi
}
if command -v python3 >/dev/null; then test_wheel; else echo "SKIPPED: python3 was not found, so no wheel was built"; fi

# Which nvcc --gpu uses: $toolkit stands for this machine's, and learn tile may have another.
cat >toolkit.sh <<'END'
command() {
    if [[ $* != "-v nvcc" ]]; then builtin command "$@"; elif [[ $toolkit ]]; then echo "$toolkit"; else false; fi
}
END
fake_nvcc toolkit/nvcc 13.0
ln -s "$PWD/bin/nvidia-smi" "$(type -P chmod)" tools/
mkdir -p folder/common
ln -s /bin/true folder/common/learn
if [[ ! $(<"$scratch/prefix/lib/cudatry/tree") -ef $root ]]; then complain "the command knows where it comes from"; fi
echo "$PWD/folder" >"$scratch/prefix/lib/cudatry/tree"
mkdir headers/deep
printf '#pragma once\n#include <cuda_tile.h>\n' >headers/deep/kernels.cuh
printf '#include <deep/kernels.cuh>\nint main() {}\n' >tiles.cu
printf '// #include <cuda_tile.h>\nint main() {}\n' >threads.cu
export BASH_ENV=$PWD/toolkit.sh toolkit=''
compiled='-std=c++20 -O3 -lineinfo -arch=native'
installed "no nvcc for a GPU" 2 "" "^nvcc was not found, so threads.cu" --gpu threads.cu
grep -qxF "$PWD/folder/common/learn tile gets one from PyPI, 600 MB, without root." "$scratch/err" ||
    complain "no nvcc for a GPU: what brings one"
installed "no nvcc for tiles" 2 "" "need nvcc 13.3 or newer, but nvcc was not found" --gpu -Iheaders tiles.cu
toolkit=$PWD/toolkit/nvcc
installed "an nvcc for threads" 0 "13.0 $compiled -o /on_gpu threads.cu" '' --gpu threads.cu
CUDATRY_NAME="common/learn try" installed "an nvcc too old for tiles" 2 "" "^common/learn tile gets one" \
    --gpu -Iheaders tiles.cu
grep -qxF "tiles.cu has tile kernels. They need nvcc 13.3 or newer, but $toolkit is 13.0." "$scratch/err" ||
    complain "an nvcc too old for tiles: what it needs"
fake_nvcc toolkit/nvcc 13.10
installed "an nvcc new enough for tiles" 0 "13.10 $compiled --enable-tile -Iheaders -o /on_gpu tiles.cu" '' \
    --gpu -Iheaders tiles.cu
fake_nvcc folder/build/tile-venv/lib/python3.11/site-packages/nvidia/cu13/bin/nvcc 13.5
installed "threads, where learn tile has brought another nvcc" 0 "13.10 $compiled -o /on_gpu threads.cu" '' --gpu threads.cu
fake_nvcc toolkit/nvcc 12.4
installed "tiles there" 0 "13.5 $compiled --enable-tile -I headers -o /on_gpu tiles.cu" '' --gpu -I headers tiles.cu
installed "tiles in one of two files" 0 "13.5 $compiled --enable-tile -Iheaders -o /on_gpu threads.cu tiles.cu" '' \
    --gpu -Iheaders threads.cu tiles.cu
toolkit=''
installed "threads, where learn tile has brought the only nvcc" 0 "13.5 $compiled -o /on_gpu threads.cu" '' --gpu threads.cu
rm -r folder
installed "without its source folder" 2 "" '^The CUDA Toolkit has one: https' --gpu -Iheaders tiles.cu
unset BASH_ENV toolkit

# No part of a file name is executed, and every file either compiles or is rejected by name.
mkdir -p "$scratch/names" && cd "$scratch/names"
cat >"$scratch/named.cu" <<'END'
#include "n.cuh"
__global__ void over(int* a, int n) {
    int x;
    if (n == 32) x = 1;
    a[threadIdx.x + N] = x;
}
int main() {
    int* a;
    cudaMalloc(&a, 32 * sizeof(int));
    over<<<1, 32>>>(a, 32);
    cudaFree(a);
}
END
for name in 'x|e touch run;|' '$(touch run)`touch run`' "it's;touch run;'" 'a\b#&*?<[^]>%s' $'a\nb' 'a"b'; do
    mkdir "$name"
    cp "$scratch/named.cu" "$name/$name.cu"
    echo '#define N 1' >"$name/n.cuh"
    cd "$name"
    case $name in
        *[[:cntrl:]\"]*) tries "a file named $name" 2 "" 'contains a ", a line break or another' try "./$name.cu" ;;
        *)
            tries "a file named $name" 1 "" 'cu:5: .*element 32 of' try "./$name.cu"
            grep -qF "$name.cu:5: " "$scratch/err" || complain "a file named $name: its line"
            ;;
    esac
    cd ..
done
if [[ $(find "$scratch" "$SIXDAYS_TRY_FOLDER" -name run) ]]; then complain "part of a file name was executed"; fi
cd "$scratch/a folder"

# The program gets the user's locale, while cudatry uses its own. Other shells can run it too.
echo '#include <cstdlib>
#include <cstdio>
int main() { std::printf("%s", std::getenv("LC_ALL") ? std::getenv("LC_ALL") : "none"); }' >language.cu
tries "no language" 0 "none" - try language.cu
LC_ALL=C.UTF-8 tries "a language" 0 "C.UTF-8" - try language.cu
PATH=$tools sh "$scratch/prefix/bin/cudatry" language.cu >"$scratch/out" 2>"$scratch/err" || complain "by sh"
if [[ $(<"$scratch/out") != none ]]; then complain "by sh: stdout"; fi

# Two at a time: building does not block on the lessons' lock, and each run has its own folder.
mkfifo typed
cp right.cu first.cu
"$root/common/learn" try -DN=5 first.cu <typed >"$scratch/first" 2>&1 &
first=$!
exec 8>typed  # it waits for a line
tries "a second try while the first one runs" 0 "a line 31" - try -DN=0 right.cu
tries "and one of the same file" 0 "a line 41" - try -DN=10 first.cu
kill -0 "$first" || complain "the first try has ended"
echo "typed" >&8
exec 8>&-
wait "$first" || complain "the first try"
grep -qx 'typed 36' "$scratch/first" || complain "the first try: what it says"
if compgen -G "$SIXDAYS_TRY_FOLDER/cudatry.*" >/dev/null; then complain "a work folder is left behind"; fi

cp right.cu saved.cu
PATH=$tools "$scratch/prefix/bin/cudatry" --watch saved.cu </dev/null >"$scratch/watched" 2>&1 &
watching=$!
await() {  # await <words>: for up to a minute
    for ((i = 0; i < 120; ++i)); do
        if grep -qs "$1" "$scratch/watched"; then return; fi
        sleep 0.5
    done
    complain "watching: \"$1\""
}
await 'status 0; waiting for you to save saved.cu'
tries "a try beside one that waits for a save" 0 "a line 31" - try -DN=0 right.cu
cp five.cu saved.cu
await 'status 1; waiting for you to save saved.cu'
grep -q 'race, saved.cu:7' "$scratch/watched" || complain "watching: the finding"
kill "$watching"

# steps <test name> <commands for gdb> <regular expression>... -- <argument of debug>...
steps() {
    local what=$1 commands=$2 pattern patterns=()
    shift 2
    while [[ $1 != -- ]]; do
        patterns+=("$1")
        shift
    done
    shift
    echo "$commands" | "$root/common/learn" debug "$@" >"$scratch/out" 2>"$scratch/err" || true
    for pattern in "${patterns[@]}"; do
        grep -qE -- "$pattern" "$scratch/out" || complain "$what: stdout has no \"$pattern\""
    done
}
tries "a missing line number" 2 "" "Which line of day01" debug day01
tries "--block without a line number" 2 "" "Name the line: right.cu:13" debug right.cu --block 2
tries "an invalid index" 2 "" "--block takes one to three numbers" debug right.cu:9 --block x
if ! command -v gdb >/dev/null; then
    echo "SKIPPED: gdb was not found, so nothing is stepped through"
else
    cat >step.cu <<'END'
#include "helper.cuh"
__global__ void reverse(int* out) {
    out[threadIdx.x] = threadIdx.x;
    const int mine = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = swapped(mine);
}
int main() {
    int* device;
    cudaMalloc(&device, 32 * sizeof(int));
    reverse<<<1, 32>>>(device);
    cudaFree(device);
}
END
    right=$root/docs/examples/row_sums_right.cu
    steps "a block, a thread, their variables; next stays with them" \
        $'print half\nprint part[threadIdx.x]\nnext\nnext\nnext\nnext\nprint half\nprint part[threadIdx.x]\nprint blockDim' \
        '^block \(2,0,0\), thread \(5,0,0\)$' '\$1 = 64$' '\$2 = 4$' '\$3 = 32$' '\$4 = 8$' \
        '\$5 = \{x = 128, y = 1, z = 1\}' -- "$right:16" --block 2 --thread 5
    if grep -q 'thread ([^5]' "$scratch/out"; then complain "another thread stopped"; fi
    if (($(grep -c 'block (2,0,0)' "$scratch/out") != 5)); then complain "one stop for each step"; fi
    steps "step goes into a function of the file, and not into the runtime" \
        $'step\nstep' 'swapped<int> \(value=5\)' '5.*all\[threadIdx.x\] = value' -- step.cu:6 --thread 5
    steps "without a line, the mistake" 'print half' 'found a bug in this line' \
        'row_sums.cu:14' '\$1 = 64$' -- "$root/docs/examples/row_sums.cu"
fi

if ((failures > 0)); then exit 1; fi
echo "all as it should be"
