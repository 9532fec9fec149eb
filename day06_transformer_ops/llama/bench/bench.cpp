// Benchmarks the Llama family with random weights: prints CSV with the columns of
// common/lesson/csv.hpp. On a GPU the sizes of Llama 3.2 1B, on a CPU those of SmolLM2 135M. Times
// are per token, or per prompt.
//
//     llama_bench [cuda|cpu] [decode] [prompts] [parts] [F16|Q8_0|Q4_K_M]...
//
// Q4_K_M is Q4_K with Q6_K for v and down, on a CPU Q5_0 with Q8_0. Timed results are compared with
// another backend, so a wrong result ends the program even if it is repeatable.
#include <cstdio>
#include <ctime>

#include "common/bench/gpu_limits.hpp"
#include "common/gpu/device.hpp"
#include "common/lesson/csv.hpp"
#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/bench/engine_times.hpp"
#include "day06_transformer_ops/gpt2/bench/words.hpp"
#include "day06_transformer_ops/llama/llama_backend.hpp"
#include "day06_transformer_ops/llama/random_llama.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using gpt2::Engine, gpt2::WeightType, gpt2::Words;

namespace {

// The weight types of a file: of most matrices, and of v and down.
struct Types {
    const char* name;
    WeightType most, values;
};
constexpr Types kTypes[] = {{"F16", WeightType::f16, WeightType::f16},
                            {"Q8_0", WeightType::q8_0, WeightType::q8_0},
                            {"Q4_K_M", WeightType::q4_k, WeightType::q6_k}};

constexpr std::int64_t kPrompt = 128, kEnd = 640, kLongPrompt = 2048;

// Bytes and FLOP of a pass of T tokens, the last of which sees `length` positions. The head
// processes only the last.
bench::Work work_of(const ModelWeights& model, std::int64_t T, std::int64_t length) {
    const Config& c = model.config;
    double bytes = static_cast<double>(gpt2::bytes_of(model.head.type, model.head.shape));
    double weights = 0;
    for (const BlockWeights& b : model.blocks) {
        for (const LinearWeights* linear :
             {&b.q, &b.k, &b.v, &b.attention_output, &b.gate, &b.up, &b.down}) {
            bytes += static_cast<double>(gpt2::bytes_of(linear->weight.type, linear->weight.shape));
            weights += static_cast<double>(size(linear->weight.shape));
        }
    }
    const double seen = static_cast<double>(T) * static_cast<double>(2 * length - T + 1) / 2;
    bench::Work work;
    work.bytes_read = bytes + 8 * static_cast<double>(c.layers * c.kv_heads * c.head_dim * length);
    work.flops =
        2 * (static_cast<double>(T) * weights + static_cast<double>(size(model.head.shape))) +
        4 * static_cast<double>(c.layers * c.heads * c.head_dim) * seen;
    return work;
}

void print(const Types& types, const std::string& op, const std::string& version,
           const std::string& path, std::int64_t tokens, const bench::Work& work,
           const bench::Seconds& seconds, const bench::Limits& limits) {
    lesson::Version v;
    v.op = op, v.version = version, v.path = path, v.dtype = types.name;
    v.shape = std::to_string(tokens), v.work = work;
    std::printf("%s\n", lesson::csv_row(v, seconds, 0, limits).c_str());
    std::fflush(stdout);
}

void measure_cuda(const Types& types, const bench::Limits& limits, const Words& wanted) {
    const Config config = llama_1b();
    RandomLlama random(config, types.most, {}, types.values);
    const ModelWeights& model = random.weights();
    const std::int64_t capacity = kLongPrompt + 1;
    if (wanted.part("decode")) {
        const auto backend = make_cuda_backend(model, capacity);
        backend->set_sampler({.temperature = 0});
        Engine engine(config, *backend, capacity);
        const bench::Seconds s = gpt2::decode(config, engine, 5, kPrompt, kEnd);
        const auto cpu = make_cpu_backend(model, kEnd);
        gpt2::check_text(config, types.most, engine, *cpu, kPrompt);
        print(types, "decode Llama 3.2 1B", "greedy", "", 1,
              work_of(model, 1, (kPrompt + kEnd) / 2), s, limits);
    }
    if (wanted.part("prompts")) {
        const auto floats = make_cuda_backend(model, capacity);
        const auto fast = make_cuda_backend(model, capacity, gpt2::Prompts::tensor_cores);
        Engine in_floats(config, *floats, capacity), by_tensor_cores(config, *fast, capacity);
        gpt2::check_prompt(config, types.most, in_floats, by_tensor_cores, kLongPrompt);
        const bench::Work work = work_of(model, kLongPrompt, kLongPrompt);
        print(types, "prefill Llama 3.2 1B", "prompt", "", kLongPrompt, work,
              gpt2::read_prompt(config, in_floats, 5, kLongPrompt), limits);
        print(types, "prefill Llama 3.2 1B on tensor cores", "prompt", "", kLongPrompt, work,
              gpt2::read_prompt(config, by_tensor_cores, 5, kLongPrompt), limits);
    }
    if (!wanted.part("parts")) return;
    const double whole = gpt2::without(config, *make_cuda_backend(model, capacity), -1);
    std::printf("# %s, a token at position 576: %.1f us\n", types.name, whole * 1e6);
    for (int part = 0; part < gpt2::kParts; ++part) {
        const double missing =
            whole - gpt2::without(config, *make_cuda_backend(model, capacity), part);
        std::printf("# %s, %s: %.1f us\n", types.name, name(static_cast<gpt2::Part>(part)),
                    missing * 1e6);
        std::fflush(stdout);
    }
}

void measure_cpu(Types types, const bench::Limits& limits, const Words& wanted) {
    if (types.most == WeightType::q4_k) {  // needs rows of 256 n, and SmolLM2's have 576
        types.most = WeightType::q5_0, types.values = WeightType::q8_0;
    }
    const Config config = smollm2_135m();
    RandomLlama random(config, types.most, {}, types.values);
    const ModelWeights& model = random.weights();
    const auto backend = make_cpu_backend(model, 1024);
    backend->set_sampler({.temperature = 0});
    Engine engine(config, *backend, 1024);
    {  // The CPU references are slow, so the text is short.
        const auto plain = make_plain_backend(model, 1024);
        (void)gpt2::make_text(config, engine, 4, 8);
        gpt2::check_text(config, types.most, engine, *plain, 4);
    }
    for (const std::int64_t at : {std::int64_t{128}, std::int64_t{450}}) {
        if (!wanted.part("decode")) continue;
        print(types, "decode SmolLM2 135M on a CPU", "from position " + std::to_string(at),
              backend->name(), 1, work_of(model, 1, at + 8),
              gpt2::decode(config, engine, 3, at, at + 16), limits);
    }
    if (!wanted.part("prompts")) return;
    print(types, "prompt of SmolLM2 135M on a CPU", "prompt", backend->name(), 449,
          work_of(model, 449, 449), gpt2::read_prompt(config, engine, 3, 449), limits);
}

Words read_words(int argc, char** argv) {
    std::vector<std::string> names;
    for (const Types& types : kTypes) names.push_back(types.name);
    const Words wanted = gpt2::words_of(argc, argv, {"decode", "prompts", "parts"}, names);
    if (!wanted.cuda && !wanted.cpu) {
        reject("nothing is left to measure: 'cuda' leaves the CPU out, and 'cpu' the GPU");
    }
    return wanted;
}

void run(const Words& wanted) {
    const std::string no_gpu =
        gpu::is_emulated() ? "this program runs on the emulator" : gpu::why_unavailable();
    const bool cuda = wanted.cuda && no_gpu.empty();
    if (wanted.cuda && !cuda) {
        std::fprintf(stderr, "llama_bench: no rows of a GPU: %s\n", no_gpu.c_str());
    }
    char today[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(today, sizeof today, "%Y-%m-%d", std::gmtime(&now));
    bench::Limits gpu_limits, host_limits;
    if (cuda) {
        gpu_limits = bench::measure_gpu_limits();
        std::printf("# %s, %s; limits: %s\n", gpu::device().name.c_str(), today,
                    to_string(gpu_limits).c_str());
    }
    if (wanted.cpu) host_limits = bench::measure_host_limits();
    std::printf("%s\n", lesson::csv_columns().c_str());
    for (const Types& types : kTypes) {
        if (cuda && wanted.type(types.name)) measure_cuda(types, gpu_limits, wanted);
    }
    for (const Types& types : kTypes) {
        if (wanted.cpu && wanted.type(types.name)) measure_cpu(types, host_limits, wanted);
    }
}

}  // namespace

int main(int argc, char** argv) {
    return gpt2::status_of(
        "llama_bench", [&] { return read_words(argc, argv); }, run);
}
