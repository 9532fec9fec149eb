// How fast the CUDA backend generates, with random weights of GPT-2's size: prints CSV, columns as
// common/lesson/csv.hpp has them; times are those of one token, or of one prompt.
//
//     gpt2_bench [decode|parts] [F32|F16|BF16|Q8_0]...
//
// With `decode` it prints one row a type, greedy; with `parts`, where the time goes, of a prompt and of
// a token.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/bench/measure.hpp"
#include "common/gpu/device.hpp"
#include "day06_transformer_ops/gpt2/engine.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;

namespace {

constexpr std::int64_t kPrompt = 128, kCapacity = kGpt2.context;
constexpr double kRead = 4.69e12;  // bytes a second that an H200 reads, measured

Tensor<std::int64_t> some_ids(std::int64_t T) {
    Tensor<std::int64_t> ids({T});
    for (std::int64_t t = 0; t < T; ++t) ids(t) = (t * 7919 + 13) % kGpt2.vocabulary;
    return ids;
}

// Bytes that a token at position `length` must read: every weight but the embedding's, and the cache.
std::int64_t bytes_a_token(WeightType type, std::int64_t length) {
    const std::int64_t C = kGpt2.channels;
    const std::int64_t layer = bytes_of(type, {4 * C + 2 * kGpt2.hidden, C});
    return kGpt2.layers * layer + bytes_of(type, {kGpt2.vocabulary, C}) +
           kGpt2.layers * 2 * 4 * C * length;
}

void row(const char* op, const char* version, WeightType type, std::int64_t tokens,
         std::int64_t bytes, const bench::Seconds& s) {
    std::printf("%s,%s,,%s,%lld,cold,%lld,0,0,%.4g,%.4g,%.4g,read,%.3f,,\n", op, version,
                storage_of(type).name, static_cast<long long>(tokens),
                static_cast<long long>(bytes), s.median, s.p10, s.p90,
                static_cast<double>(bytes) / kRead / s.median);
    std::fflush(stdout);
}

// Seconds a token, by the wall clock, from position 128 to the end.
bench::Seconds decode(Engine& engine, int runs) {
    const auto prompt = some_ids(kPrompt);
    const std::int64_t count = kCapacity - kPrompt;
    bench::Seconds s = bench::host_seconds(runs, [&] {
        engine.forget();
        engine.read(prompt.view());
        engine.backend().wait();
        for (std::int64_t i = 0; i < count; ++i) engine.next();
        (void)engine.chosen();
    });
    for (double* x : {&s.median, &s.p10, &s.p90}) *x /= static_cast<double>(count);
    return s;
}

// Seconds of a pass without one of its parts, at position 576: what is missing is the part's time.
double without(Backend& backend, int part) {
    constexpr int kPasses = 200;
    backend.begin(some_ids(1).view(), 576);
    const auto pass = [&] {
        if (part != 0) backend.embed();
        for (std::int64_t layer = 0; layer < kGpt2.layers; ++layer) {
            if (part != 1) backend.query_key_value(layer);
            if (part != 2) backend.attend(layer);
            if (part != 3) backend.add_attention(layer);
            if (part != 4) backend.widen(layer);
            if (part != 5) backend.add_mlp(layer);
        }
        if (part != 6) backend.head(0, 1);
        if (part != 7) backend.choose();
    };
    const bench::Seconds s = bench::host_seconds(5, [&] {
        backend.begin(some_ids(1).view(), 576);
        for (int i = 0; i < kPasses; ++i) backend.replay(pass);
        backend.wait();
    });
    return s.median / kPasses;
}

// Each part of a prompt, with a wait behind it, and one token's parts by what is missing without them.
void measure_parts(WeightType type) {
    const RandomModel model(kGpt2, type);
    const char* const dtype = storage_of(type).name;
    {
        const auto backend = make_cuda_backend(model.weights(), kCapacity);
        Engine engine(kGpt2, *backend, kCapacity);
        engine.read(some_ids(kCapacity - 64).view());
        engine.forget();
        PartTimes times = {};
        engine.measure(&times);
        engine.read(some_ids(kCapacity - 64).view());
        for (int part = 0; part < kParts; ++part) {
            std::printf("# %s: prompt of %d: %s %.1f us\n", dtype, int(kCapacity - 64),
                        name(static_cast<Part>(part)), 1e6 * times[static_cast<std::size_t>(part)]);
        }
        for (int i = 0; i < 20; ++i) engine.next();
    }
    double whole = 0;
    for (int part = -1; part < kParts; ++part) {
        const auto backend = make_cuda_backend(model.weights(), kCapacity);
        backend->set_sampler({.temperature = 0});
        const double s = without(*backend, part);
        if (part < 0) whole = s;
        std::printf("# %s: %s %.1f us\n", dtype,
                    part < 0 ? "a token" : name(static_cast<Part>(part)),
                    1e6 * (part < 0 ? s : whole - s));
    }
}

void measure(WeightType type, bool all) {
    const RandomModel model(kGpt2, type);
    const auto backend = make_cuda_backend(model.weights(), kCapacity);
    Engine engine(kGpt2, *backend, kCapacity);
    const std::int64_t mean = bytes_a_token(type, (kPrompt + kCapacity) / 2);
    backend->set_sampler({.temperature = 0});
    row("decode", "greedy", type, 1, mean, decode(engine, 5));
    if (!all) return;
    backend->set_sampler({.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .seed = 1});
    row("decode", "top-k 40 top-p 0.95", type, 1, mean, decode(engine, 5));
    backend->set_sampler({.temperature = 1, .seed = 1});
    row("decode", "temperature 1", type, 1, mean, decode(engine, 3));
    for (const std::int64_t T : {std::int64_t{128}, kCapacity}) {
        const auto prompt = some_ids(T);
        row("prefill", "prompt", type, T, bytes_a_token(type, T), bench::host_seconds(9, [&] {
                engine.forget();
                engine.read(prompt.view());
                (void)engine.chosen();
            }));
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::printf("# %s\n", gpu::device().name.c_str());
    const std::string what = argc > 1 ? argv[1] : "";
    const bool named = what == "decode" || what == "parts";
    for (const WeightType type :
         {WeightType::f32, WeightType::f16, WeightType::bf16, WeightType::q8_0}) {
        bool wanted = argc == 1 + named;
        for (int i = 1; i < argc; ++i) wanted |= std::strcmp(argv[i], storage_of(type).name) == 0;
        if (!wanted) continue;
        what == "parts" ? measure_parts(type) : measure(type, what != "decode");
    }
}
