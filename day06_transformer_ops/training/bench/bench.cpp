// Times a training step and its parts: prints CSV with the columns of common/lesson/csv.hpp. Random
// weights and tokens; a step is forward pass, backward pass, clipping and AdamW.
//
//     gpt2_train_bench [124M|124M-16|124M-bf16|124M-16-bf16|strides][xGPUS]...
//
// Without arguments: 124M and strides. 124M-16x4: on each of 4 GPUs, 16 sequences; the GFLOP/s are
// per GPU.
//
// After its steps the model must have a lower loss on the batch that it has seen repeatedly;
// otherwise the program ends with an error.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "common/bench/gpu_limits.hpp"
#include "common/gpu/device.hpp"
#include "common/lesson/csv.hpp"
#include "common/tensor/sentence.hpp"
#include "day06_transformer_ops/gpt2/bench/words.hpp"
#include "day06_transformer_ops/training/bench/timed_operations.hpp"
#include "day06_transformer_ops/training/model/trainer_body.hpp"
#include "day06_transformer_ops/training/model/trainers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;

namespace {

struct Size {
    std::string name;
    gpt2::Config config;
    std::int64_t batch;  // sequences, of all GPUs
    bool usual = false;  // measured if no size is given
    bool bf16 = false;   // products on tensor cores
    int gpus = 1;
};
const gpt2::Config k124M{12, 1024, 768, 12, 3072, 50257, 1e-5f};
const Size kSizes[] = {
    {"124M", k124M, 4, true},
    {"124M-16", k124M, 16},
    {"124M-bf16", k124M, 4, false, true},
    {"124M-16-bf16", k124M, 16, false, true},
    {"strides", {6, 64, 128, 4, 512, 292, 1e-5f}, 256, true},
};

// The size of this name, which may end with the number of GPUs.
Size size_of(const std::string& word) {
    const std::size_t x = word.rfind('x');
    std::string names;
    for (Size size : kSizes) {
        if (word == size.name) return size;
        if (word.substr(0, x) == size.name && x + 2 == word.size() && word[x + 1] > '1' &&
            word[x + 1] <= '9') {
            size.gpus = word[x + 1] - '0';
            size.name = word, size.batch *= size.gpus;
            return size;
        }
        names += ' ' + size.name;
    }
    reject("unknown size '", word, "'; sizes:", names,
           ", and each of them with x2 to x9 appended, the number of GPUs");
}

// Per GPU: 6 FLOP per parameter and token, forward and backward, and attention's, as in papers.
double flops_of(const Size& s, std::int64_t parameters) {
    const double tokens = static_cast<double>(s.batch / s.gpus * s.config.context);
    const double attention =
        12.0 * static_cast<double>(s.config.layers * s.config.channels * s.config.context);
    return tokens * (6.0 * static_cast<double>(parameters) + attention);
}

void print(const Size& s, const std::string& op, const std::string& version, double flops,
           const bench::Seconds& seconds, const bench::Limits& limits) {
    lesson::Version v;
    v.op = op, v.version = version, v.cache = "warm";
    if (s.bf16) v.dtype = "bfloat16";
    v.shape = s.name + " B=" + std::to_string(s.batch) + " T=" + std::to_string(s.config.context);
    v.work.flops = flops;
    std::printf("%s\n", lesson::csv_row(v, seconds, 0, limits).c_str());
    std::fflush(stdout);
}

void say(const std::exception& error) {
    std::fprintf(stderr, "gpt2_train_bench: %s\n", error.what());
}

template <class Device>
void measure(const Size& s, const bench::Limits& limits) {
    const std::int64_t before = gpu::free_bytes();
    NcclSum sum(s.gpus);
    Trainers<Device> trainer(s.config, s.batch, sum);
    sum.use(0);  // the GPU that was current before
    const auto taken = static_cast<double>(before - gpu::free_bytes());
    std::printf("# %s, gpt2_train: %.1f GiB\n", s.name.c_str(), taken / (1 << 30));
    TrainingState state;
    state.parameters = trainer.parameters().begin(1);
    state.first.resize(state.parameters.size());
    state.second.resize(state.parameters.size());
    trainer.load(state);
    const std::int64_t n = s.batch * s.config.context, V = s.config.vocabulary;
    std::vector<std::int64_t> ids, targets;
    for (std::int64_t i = 0; i < n; ++i) ids.push_back((i * 7919 + i / 61 * 13) % V);
    for (std::int64_t i = 0; i < n; ++i) targets.push_back((i * 104729 + 7) % V);
    double first = 0, last = 0;
    std::vector<double> times;
    try {
        for (int i = 0; i < 12; ++i) {
            const auto start = std::chrono::steady_clock::now();
            last = trainer.accumulate({ids, targets}, 1, true);
            (void)trainer.step({.rate = 1e-4});
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (i == 0) first = last;
            if (i > 1) times.push_back(spent.count());
            if (i > 4 && spent.count() > 2) break;  // a few slow steps are enough
        }
    } catch (const std::exception& error) {
        if (s.gpus == 1) throw;
        say(error);
        std::fflush(stdout);
        std::_Exit(1);  // see NcclSum::wait()
    }
    if (!(last < first)) {
        throw std::runtime_error(sentence(s.name, ": the loss went from ", first, " to ", last,
                                          ". The timed model does not learn."));
    }
    print(s, "training step", "gpt2_train", flops_of(s, trainer.parameters().size()),
          bench::summarise(times), limits);
    if (s.gpus > 1) return;
    std::map<std::string, std::vector<double>> parts;
    Trainer<Device>& one = trainer.all()[0];
    for (int i = 0; i < 3; ++i) {
        for (const auto& [name, seconds] : one.timed(TimedOperations(one.operations()))) {
            parts[name].push_back(seconds);
        }
    }
    for (const auto& [name, seconds] : parts) {
        print(s, "part of a step", name, 1, bench::summarise(seconds), limits);
    }
}

std::vector<Size> read_sizes(int argc, char** argv) {
    std::vector<Size> wanted;
    for (int i = 1; i < argc; ++i) wanted.push_back(size_of(argv[i]));
    for (const Size& s : kSizes) {
        if (argc == 1 && s.usual) wanted.push_back(s);
    }
    return wanted;
}

void run(const std::vector<Size>& wanted) {
    const std::string no_gpu =
        gpu::is_emulated() ? "this program runs on the emulator" : gpu::why_unavailable();
    if (!no_gpu.empty()) throw std::runtime_error(no_gpu + ": its times would mean nothing");
    const bench::Limits limits = bench::measure_gpu_limits();
    std::printf("# limits: %s: %s\n%s\n", limits.whose.c_str(), to_string(limits).c_str(),
                lesson::csv_columns().c_str());
    for (const Size& s : wanted) s.bf16 ? measure<CudaBf16>(s, limits) : measure<Cuda>(s, limits);
}

}  // namespace

int main(int argc, char** argv) {
    return gpt2::status_of(
        "gpt2_train_bench", [&] { return read_sizes(argc, argv); }, run);
}
