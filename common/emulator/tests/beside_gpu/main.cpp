// Launches each kernel of trace.cu once, in a fixed order. Built as two programs:
//   emulator_counts        prints the emulator's counts as CSV
//   emulator_counts_cuda   runs on a GPU under ncu; compare.py tabulates both
#include <cuda_runtime_api.h>

#include <cstdio>
#include <functional>
#include <vector>

#include "common/emulator/tests/trace.hpp"

#ifdef SIXDAYS_EMULATED
#include "common/emulator/trace.hpp"
#endif

using namespace sixdays::emulator::tests;

int main() {
    constexpr std::size_t kElements = 32 * 1024;
    float *in = nullptr, *out = nullptr, *more = nullptr;
    for (float** p : {&in, &out, &more}) {
        if (cudaMalloc(reinterpret_cast<void**>(p), kElements * sizeof(float)) != cudaSuccess ||
            cudaMemset(*p, 0, kElements * sizeof(float)) != cudaSuccess) {
            std::printf("no device memory\n");
            return 1;
        }
    }
    int* counts = reinterpret_cast<int*>(more);
    const struct {
        const char* name;
        std::function<void()> launch;
    } cases[] = {
        {"coalesced copy", [&] { trace_copy(in, out, 4, 256, 1, 0); }},
        {"copy with stride 2", [&] { trace_copy(in, out, 1, 256, 2, 0); }},
        {"copy with stride 32", [&] { trace_copy(in, out, 1, 256, 32, 0); }},
        {"copy one element off", [&] { trace_copy(in, out, 1, 256, 1, 1); }},
        {"16-byte copy", [&] { trace_copy4(in, out, 1, 256); }},
        {"tiled matmul 64", [&] { trace_matmul(in, out, 64, more); }},
        {"transpose by tile", [&] { trace_transpose(in, out, false); }},
        {"transpose by padded tile", [&] { trace_transpose(in, out, true); }},
        {"transpose without tile", [&] { trace_naive_transpose(in, out); }},
        {"block reduction", [&] { trace_reduce(in, out, 4); }},
        {"atomics", [&] { trace_atomics(counts, 8); }},
        {"broadcast and 16-byte shared", [&] { trace_broadcast(in, out); }},
        // Lanes per word: 1, 2, 8, 32 in global memory, 8 in shared memory.
        {"atomics on 32 words", [&] { trace_atomics(counts, 32); }},
        {"atomics on 16 words", [&] { trace_atomics(counts, 16); }},
        {"atomics on 4 words", [&] { trace_atomics(counts, 4); }},
        {"atomics on 1 word", [&] { trace_atomics(counts, 1); }},
        {"atomics on 8 words with old values", [&] { trace_atomics_used(counts, 8, 3); }},
        {"atomics on 1 word with old values", [&] { trace_atomics_used(counts, 1, 3); }},
    };
    std::printf("case,memory,operation,requests,sectors,passes\n");
    for (const auto& c : cases) {
#ifdef SIXDAYS_EMULATED
        using namespace sixdays::emulator;
        start_trace();
        c.launch();
        const std::vector<LineTrace> lines = stop_trace();
        const char* const operations[] = {"load", "store", "atomic"};
        for (const Memory memory : {Memory::global, Memory::shared}) {
            for (const Operation operation :
                 {Operation::load, Operation::store, Operation::atomic}) {
                unsigned long long requests = 0, sectors = 0, passes = 0;
                for (const LineTrace& line : lines) {
                    if (line.memory != memory || line.operation != operation) continue;
                    requests += line.requests;
                    sectors += line.sectors;
                    passes += line.passes;
                }
                if (requests == 0) continue;
                std::printf("%s,%s,%s,%llu,%llu,%llu\n", c.name,
                            memory == Memory::global ? "global" : "shared",
                            operations[static_cast<int>(operation)], requests, sectors, passes);
            }
        }
#else
        c.launch();
        std::printf("%s,,,,,\n", c.name);
#endif
        if (cudaDeviceSynchronize() != cudaSuccess) {
            std::printf("%s failed\n", c.name);
            return 1;
        }
    }
    return 0;
}
