// Benchmarks GPT-2 with random weights of its true size: prints CSV with the columns of
// common/lesson/csv.hpp. Times are per token, or per prompt.
//
//     gpt2_bench [cuda|cpu] [decode|prompts] [F32|F16|BF16|Q8_0|Q4_0|Q5_0|Q4_K|Q5_K|Q6_K]...
//
// Without arguments all rows of F32, F16, BF16 and Q8_0; with `decode` only one greedy row per type,
// for a quick look; with `prompts` only prompts on a GPU. Timed results are compared with another
// backend, so a wrong result ends the program even if it is repeatable.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/bench/gpu_limits.hpp"
#include "common/bench/measure.hpp"
#include "common/gpu/device.hpp"
#include "common/lesson/csv.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/gpt2/bench/engine_times.hpp"
#include "day06_transformer_ops/gpt2/bench/words.hpp"
#include "day06_transformer_ops/gpt2/cpu/threads.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;

namespace {

constexpr std::int64_t kPrompt = 128, kCapacity = kGpt2.context;

// --- work per pass: bytes and FLOP ---------------------------------------------------------------

// Weights of all products; the embedding is not one of them, but the head has as many.
std::int64_t matrix_weights() {
    const std::int64_t C = kGpt2.channels;
    return kGpt2.layers * (4 * C + 2 * kGpt2.hidden) * C + kGpt2.vocabulary * C;
}

// A pass of T tokens, the last of which sees `length` positions. The head processes only the last.
bench::Work work_of(WeightType type, std::int64_t T, std::int64_t length) {
    const std::int64_t C = kGpt2.channels, head = kGpt2.vocabulary * C;
    const double seen = static_cast<double>(T) * static_cast<double>(2 * length - T + 1) / 2;
    bench::Work work;
    work.bytes_read = static_cast<double>(bytes_of(type, {matrix_weights() / C, C}) +
                                          kGpt2.layers * 2 * 4 * C * length);
    work.flops = 2 * static_cast<double>(T * (matrix_weights() - head) + head) +
                 4 * static_cast<double>(kGpt2.layers * C) * seen;
    return work;
}

struct Row {
    std::string op, version, path;
    WeightType type;
    std::int64_t tokens;
    bench::Work work;
};

void print(const Row& row, const bench::Seconds& seconds, const bench::Limits& limits) {
    lesson::Version v;
    v.op = row.op, v.version = row.version, v.path = row.path;
    v.dtype = storage_of(row.type).name;
    v.shape = std::to_string(row.tokens);
    v.work = row.work;
    std::printf("%s\n", lesson::csv_row(v, seconds, 0, limits).c_str());
    std::fflush(stdout);
}

// --- GPU -----------------------------------------------------------------------------------------

// A difference of two times may be 0 or below and has no limit, so this row is written by hand.
void print_part(WeightType type, const std::string& part, double s) {
    const std::string quoted = part.find(',') == std::string::npos ? part : '"' + part + '"';
    std::printf("part of a token,%s,,%s,1,cold,0,0,0,%.4e,%.4e,%.4e,read,0,,\n", quoted.c_str(),
                storage_of(type).name, s, s, s);
    std::fflush(stdout);
}

void measure_parts(WeightType type, const ModelWeights& model) {
    const double whole = without(kGpt2, *make_cuda_backend(model, kCapacity), -1);
    print_part(type, "all of it", whole);
    double rest = whole;
    for (int part = 0; part < kParts; ++part) {
        const double missing = whole - without(kGpt2, *make_cuda_backend(model, kCapacity), part);
        print_part(type, name(static_cast<Part>(part)), missing);
        rest -= missing;
    }
    print_part(type, "no part alone", rest);
}

void measure_prompts(WeightType type, const ModelWeights& model, const bench::Limits& limits) {
    const auto floats = make_cuda_backend(model, kCapacity);
    const auto fast = make_cuda_backend(model, kCapacity, Prompts::tensor_cores);
    Engine in_floats(kGpt2, *floats, kCapacity), by_tensor_cores(kGpt2, *fast, kCapacity);
    for (const std::int64_t T : {kPrompt, kCapacity}) {
        check_prompt(kGpt2, type, in_floats, by_tensor_cores, T);
        const bench::Work work = work_of(type, T, T);
        print({"prefill", "prompt", "", type, T, work}, read_prompt(kGpt2, in_floats, 9, T),
              limits);
        print({"prefill on tensor cores", "prompt", "", type, T, work},
              read_prompt(kGpt2, by_tensor_cores, 9, T), limits);
    }
}

void measure_cuda(WeightType type, const bench::Limits& limits, const Words& wanted) {
    const RandomModel model(kGpt2, type);
    if (wanted.part("prompts")) measure_prompts(type, model.weights(), limits);
    if (!wanted.part("decode")) return;
    {
        const auto backend = make_cuda_backend(model.weights(), kCapacity);
        Engine engine(kGpt2, *backend, kCapacity);
        const bench::Work mean = work_of(type, 1, (kPrompt + kCapacity) / 2);
        const auto decoded = [&](const char* version, const SamplerOptions& sampler) {
            backend->set_sampler(sampler);
            const auto seconds = decode(kGpt2, engine, 5, kPrompt, kCapacity);
            if (sampler.temperature == 0) {
                const auto cpu = make_cpu_backend(model.weights(), kCapacity);
                check_text(kGpt2, type, engine, *cpu, kPrompt);
            }
            print({"decode", version, "", type, 1, mean}, seconds, limits);
        };
        decoded("greedy", {.temperature = 0});
        if (!wanted.part("prompts")) return;
        decoded("top-k 40 top-p 0.95",
                {.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .seed = 1});
        decoded("temperature 1", {.temperature = 1, .seed = 1});
    }
    if (type != WeightType::bf16) measure_parts(type, model.weights());  // F16's kernels
}

// --- CPU -----------------------------------------------------------------------------------------

// The bandwidth of all cores together: each thread measures itself at the same time as the others.
bench::Limits cpu_limits(Threads& threads) {
    std::vector<bench::Limits> each(static_cast<std::size_t>(threads.count()));
    threads.run(
        [&](int part) { each[static_cast<std::size_t>(part)] = bench::measure_host_limits(); });
    bench::Limits all;
    for (const bench::Limits& one : each) {
        all.copy += one.copy, all.read += one.read, all.write += one.write, all.fma += one.fma;
    }
    all.whose = "this CPU, " + std::to_string(threads.count()) + " threads";
    return all;
}

void measure_cpu(WeightType type, const bench::Limits& limits, const Words& wanted) {
    constexpr std::int64_t kTokens = 16;
    const RandomModel model(kGpt2, type);
    const auto backend = make_cpu_backend(model.weights(), kCapacity);
    backend->set_sampler({.temperature = 0});
    Engine engine(kGpt2, *backend, kCapacity);
    {  // The CPU references take a second per token, so the text is short.
        const auto plain = make_plain_backend(model.weights(), kCapacity);
        (void)make_text(kGpt2, engine, 4, 8);
        check_text(kGpt2, type, engine, *plain, 4);
    }
    const std::string path = backend->name();
    for (const std::int64_t at : {std::int64_t{128}, std::int64_t{450}}) {
        print({"decode on a CPU", "from position " + std::to_string(at), path, type, 1,
               work_of(type, 1, at + kTokens / 2)},
              decode(kGpt2, engine, 3, at, at + kTokens), limits);
        if (!wanted.part("prompts")) return;
    }
    print({"prompt on a CPU", "prompt", path, type, 449, work_of(type, 449, 449)},
          read_prompt(kGpt2, engine, 3, 449), limits);
}

// --- the command ---------------------------------------------------------------------------------

std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::ostringstream said;
    said << file.rdbuf();
    return lesson::driver_version_in(said.str());
}

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
    }
    return "a CPU without a name";
}

void run(const Words& wanted, const std::string& command) {
    const std::string no_gpu =
        gpu::is_emulated() ? "this program runs on the emulator" : gpu::why_unavailable();
    const bool cuda = wanted.cuda && no_gpu.empty();
    std::optional<bench::Limits> gpu_limits, host_limits;
    char today[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(today, sizeof today, "%Y-%m-%d", std::gmtime(&now));
    if (cuda) {
        const gpu::Device device = gpu::device();
        std::printf("# %s, driver %s, CUDA runtime %d.%d, %s, %s\n", device.name.c_str(),
                    driver_version().c_str(), device.runtime_version / 1000,
                    device.runtime_version % 1000 / 10, today, command.c_str());
        gpu_limits = bench::measure_gpu_limits();
        std::printf("# limits: %s: %s\n", gpu_limits->whose.c_str(),
                    to_string(*gpu_limits).c_str());
    } else if (wanted.cuda) {
        std::fprintf(stderr, "gpt2_bench: no rows of a GPU: %s\n", no_gpu.c_str());
    }
    if (wanted.cpu) {
        Threads threads(0);
        std::printf("# CPU: %s, %d threads, %s, %s\n", cpu_name().c_str(), threads.count(), today,
                    command.c_str());
        host_limits = cpu_limits(threads);
        std::printf("# limits: %s: %s\n", host_limits->whose.c_str(),
                    to_string(*host_limits).c_str());
    }
    if (wanted.cpu) {
        std::printf("# CPU: decode: seconds per token, greedy, mean of 16 from a position on\n");
    }
    if (gpu_limits) {
        std::printf(
            "# decode: seconds per token, wall clock, mean of positions 128 to 1024, batch 1, "
            "random weights of GPT-2's 124M shapes\n"
            "# prefill: seconds from a prompt of this length to the first token; on tensor "
            "cores with operands in 16 bits\n"
            "# part of a token: the seconds saved by omitting it, at positions 576 "
            "and on\n");
    }
    std::printf("%s\n", lesson::csv_columns().c_str());
    for (const WeightType type : weight_types()) {
        if (!wanted.type(storage_of(type).name)) continue;
        if (gpu_limits) measure_cuda(type, *gpu_limits, wanted);
    }
    for (const WeightType type : weight_types()) {
        if (type == WeightType::bf16 || !wanted.type(storage_of(type).name)) continue;
        if (host_limits) measure_cpu(type, *host_limits, wanted);
    }
}

Words read_words(int argc, char** argv) {
    std::vector<std::string> names;
    for (const WeightType type : weight_types()) names.push_back(storage_of(type).name);
    Words wanted = words_of(argc, argv, {"decode", "prompts"}, names);
    if (wanted.types.empty()) wanted.types = {"F32", "F16", "BF16", "Q8_0"};
    if (!wanted.part("decode")) wanted.cpu = false;
    if ((!wanted.cuda && !wanted.cpu) || wanted.parts.size() == 2) {
        reject(
            "nothing is left to measure: 'cuda' leaves the CPU out, 'cpu' the GPU, 'decode' the "
            "prompts, and 'prompts' everything else");
    }
    return wanted;
}

}  // namespace

int main(int argc, char** argv) {
    std::string command = "gpt2_bench";
    for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
    return status_of(
        "gpt2_bench", [&] { return read_words(argc, argv); },
        [&](const Words& wanted) { run(wanted, command); });
}
