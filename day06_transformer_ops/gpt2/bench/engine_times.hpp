/// @file
/// Seconds of an engine: of tokens, of prompts and of the parts of a token; and the check that what
/// was timed is right.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/bench/measure.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"

namespace sixdays::gpt2 {

inline Tensor<std::int64_t> some_ids(const Sizes& sizes, std::int64_t T) {
    Tensor<std::int64_t> ids({T});
    for (std::int64_t t = 0; t < T; ++t) ids(t) = (t * 7919 + 13) % sizes.vocabulary;
    return ids;
}

// --- checks of timed results ---------------------------------------------------------------------

[[noreturn]] inline void wrong(WeightType type, const std::string& what) {
    throw std::runtime_error(std::string(storage_of(type).name) + ": " + what +
                             ". The timed version computes something else.");
}

/// The engine has generated a greedy text up to its capacity. Another backend processes it in one
// pass: at each position after the prompt the token must be its likeliest, except for rounding, and
// the last logits must agree.
inline void check_text(const Sizes& sizes, WeightType type, Engine& made, Backend& other,
                       std::int64_t prompt) {
    const std::int64_t T = made.length(), V = sizes.vocabulary;
    Tensor<std::int64_t> text({T});
    for (std::int64_t t = 0; t < T; ++t) text(t) = made.backend().token(t);
    Tensor<float> last({1, V});
    made.backend().read_logits(last.view());
    Engine reader(sizes, other, T);
    const auto see = [&](std::int64_t first, View<const float> logits) {
        for (std::int64_t r = 0; r < logits.extent(0); ++r) {
            const std::int64_t at = first + r + 1;  // of the token that these logits choose
            const View<const float> row = select(logits, 0, r);
            std::int64_t best = 0;
            for (std::int64_t v = 1; v < V; ++v) best = row(v) > row(best) ? v : best;
            const double bound = LayerDifference::kBound * std::abs(double{row(best)});
            if (at >= prompt && at < T && !(row(best) - row(text(at)) <= bound)) {
                wrong(type, "token " + std::to_string(text(at)) + " at position " +
                                std::to_string(at) + ", where " + other.name() + " says " +
                                std::to_string(best));
            }
            for (std::int64_t v = 0; at == T && v < V; ++v) {
                if (std::abs(double{last(0, v)} - row(v)) <= bound) continue;
                wrong(type, "logit " + std::to_string(v) + " behind position " +
                                std::to_string(T - 1) + " is " + std::to_string(last(0, v)) +
                                ", and " + other.name() + " says " + std::to_string(row(v)));
            }
        }
    };
    reader.score(text.view(), see);
}

/// The logits after a prompt computed in floats and on tensor cores. Roundings to 16 bits are
/// derived in tests/narrow_prompt.cpp: at most 14 of 2^-8 per layer.
inline void check_prompt(const Sizes& sizes, WeightType type, Engine& floats, Engine& fast,
                         std::int64_t T) {
    Tensor<float> want({1, sizes.vocabulary}), got({1, sizes.vocabulary});
    for (auto [engine, logits] : {std::pair(&floats, &want), std::pair(&fast, &got)}) {
        engine->forget();
        engine->read(some_ids(sizes, T).view());
        engine->backend().read_logits(logits->view());
    }
    double most = 0, sum = 0, size = 0;
    for (std::int64_t v = 0; v < want.size(); ++v) {
        size = std::max(size, std::abs(double{want(0, v)}));
    }
    const double bound = 6 * 0x1p-8 * std::sqrt(14 * static_cast<double>(sizes.layers) / 3) * size;
    for (std::int64_t v = 0; v < want.size(); ++v) {
        const double off = std::abs(double{got(0, v)} - double{want(0, v)});
        if (!(off <= bound)) {
            wrong(type, "logit " + std::to_string(v) + " is " + std::to_string(got(0, v)) +
                            " on tensor cores, and in floats " + std::to_string(want(0, v)));
        }
        most = std::max(most, off), sum += off;
    }
    std::printf(
        "# %s, a prompt of %lld on tensor cores: logits differ by %.3g at most, %.3g in the mean; "
        "the largest is %.3g\n",
        storage_of(type).name, static_cast<long long>(T), most,
        sum / static_cast<double>(want.size()), size);
}

// --- times ---------------------------------------------------------------------------------------

/// A text from position `first` to `end`: seconds per token, wall clock.
inline double make_text(const Sizes& sizes, Engine& engine, std::int64_t first, std::int64_t end) {
    engine.forget();
    engine.read(some_ids(sizes, first).view());
    engine.backend().wait();
    const auto start = std::chrono::steady_clock::now();
    while (engine.length() < end) engine.next();
    engine.backend().wait();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return spent.count() / static_cast<double>(end - first);
}

inline bench::Seconds decode(const Sizes& sizes, Engine& engine, int runs, std::int64_t first,
                             std::int64_t end) {
    (void)make_text(sizes, engine, first, end);  // to warm up
    std::vector<double> seconds;
    for (int run = 0; run < runs; ++run) seconds.push_back(make_text(sizes, engine, first, end));
    return bench::summarise(seconds);
}

inline bench::Seconds read_prompt(const Sizes& sizes, Engine& engine, int runs, std::int64_t T) {
    const auto prompt = some_ids(sizes, T);
    return bench::host_seconds(runs, [&] {
        engine.forget();
        engine.read(prompt.view());
        (void)engine.chosen();
    });
}

/// Seconds of a pass without one of its parts, at position 576: the difference is the part's time.
inline double without(const Sizes& sizes, Backend& backend, int part) {
    constexpr int kPasses = 200;
    backend.set_sampler({.temperature = 0});
    backend.begin(some_ids(sizes, 1).view(), 576);
    const auto pass = [&] {
        if (part != 0) backend.embed();
        for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
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
        backend.begin(some_ids(sizes, 1).view(), 576);
        for (int i = 0; i < kPasses; ++i) backend.replay(pass);
        backend.wait();
    });
    return s.median / kPasses;
}

}  // namespace sixdays::gpt2
