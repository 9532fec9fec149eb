// The sampler on the device compared with the CPU's.
#include "day06_transformer_ops/gpt2/gpu/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The device's choice for a token at position `step`.
std::int64_t chosen(const Tensor<float>& logits, const SamplerOptions& options,
                    std::int64_t step = 1) {
    DeviceIn<float> in(logits);
    gpu::Buffer<SamplerOptions> how(1);
    gpu::Buffer<std::int64_t> tokens(step + 2), place(1);
    const std::int64_t before = step - 1;
    how.upload(&options, 1);
    place.upload(&before, 1);
    launch_choose(in.view(), how.data(), tokens.data(), place.data());
    CHECK(in.unchanged());
    CHECK(place.download()[0] == step);
    return tokens.download(step, 1)[0];
}

// Is it the CPU's token for this draw, or for one that is slightly lower or higher?
bool is_right(std::int64_t token, const Tensor<float>& logits, SamplerOptions options,
              std::int64_t step) {
    if (token == sample(logits.view(), options, static_cast<std::uint64_t>(step))) return true;
    // Weights in the vocabulary's order, after both filters.
    std::vector<std::int64_t> order;
    for (std::int64_t v = 0; v < logits.size(); ++v) order.push_back(v);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return logits(a) > logits(b); });
    if (options.top_k > 0 && options.top_k < logits.size()) {
        order.resize(static_cast<std::size_t>(options.top_k));
    }
    const auto weight = [&](std::int64_t v) {
        return std::exp((double{logits(v)} - logits(order[0])) / double{options.temperature});
    };
    double all = 0, sum = 0;
    for (const auto v : order) all += weight(v);
    std::size_t kept = 0;
    while (kept < order.size() && (kept == 0 || sum < double{options.top_p} * all)) {
        const double w = weight(order[kept]);
        // This close to the border of top-p, either side is right.
        if (std::abs(sum + w - double{options.top_p} * all) < kChooseBound * all) return true;
        sum += w, ++kept;
    }
    order.resize(kept);
    std::sort(order.begin(), order.end());
    const double place = uniform(options.seed, static_cast<std::uint64_t>(step)) * sum;
    double begin = 0;
    for (const auto v : order) {
        const double end = begin + weight(v);
        if (v == token) {
            return place >= begin - kChooseBound * sum && place < end + kChooseBound * sum;
        }
        begin = end;
    }
    return false;
}

}  // namespace

TEST_CASE("choose: matches the CPU's token, with every filter", "[day06][small]") {
    const SamplerOptions all[] = {{0, 0, 1, 0},     {1, 0, 1, 1},        {0.7f, 40, 1, 2},
                                  {1, 0, 0.9f, 3},  {1.3f, 20, 0.8f, 4}, {1, 1, 1, 5},
                                  {1, 0, 0, 6},     {0.1f, 5, 0.5f, 7},  {5, 300, 1, 8},
                                  {2, 7, 0.99f, 9}, {1, 299, 0.999f, 1}};
    for (const SamplerOptions& options : all) {
        INFO("temperature " << options.temperature << ", k " << options.top_k << ", p "
                            << options.top_p);
        int different = 0;
        for (std::int64_t step = 1; step <= 6; ++step) {
            const auto logits = seeded<float>({300}, static_cast<std::uint64_t>(step), -6, 6);
            const std::int64_t token = chosen(logits, options, step);
            INFO("step " << step << " got " << token << " want "
                         << sample(logits.view(), options, static_cast<std::uint64_t>(step))
                         << " u " << uniform(options.seed, static_cast<std::uint64_t>(step)));
            CHECK(is_right(token, logits, options, step));
            different += token != sample(logits.view(), options, static_cast<std::uint64_t>(step));
        }
        CHECK(different == 0);  // none of these draws is close to a border
    }
}

TEST_CASE("choose: of equal logits the lower index is likelier", "[day06][small]") {
    Tensor<float> logits({70});
    for (std::int64_t v = 0; v < 70; ++v) logits(v) = v % 3 == 1 ? 2.0f : v % 3 == 2 ? -0.0f : 0.0f;
    CHECK(chosen(logits, {.temperature = 0}) == 1);
    for (const std::int64_t k : {1, 5, 23, 24, 40}) {
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            const SamplerOptions options = {1, k, 1, seed};
            CHECK(chosen(logits, options) == sample(logits.view(), options, 1));
        }
    }
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const SamplerOptions options = {1, 0, 0.3f, seed};
        CHECK(is_right(chosen(logits, options), logits, options, 1));
    }
}

TEST_CASE("choose: -infinity is never chosen, NaN and infinity are reported", "[day06][small]") {
    Tensor<float> logits({40});
    for (std::int64_t v = 0; v < 40; ++v) logits(v) = v == 17 ? -3.0f : -kInfinity;
    CHECK(chosen(logits, {.temperature = 0}) == 17);
    CHECK(chosen(logits, {1, 0, 1, 3}) == 17);
    CHECK(chosen(logits, {1, 10, 0.5f, 3}) == 17);
    logits(17) = -kInfinity;
    CHECK(chosen(logits, {1, 0, 1, 3}) == kNoToken);
    logits(5) = kInfinity;
    CHECK(chosen(logits, {.temperature = 0}) == -1 - 5);
    logits(30) = std::numeric_limits<float>::quiet_NaN();
    CHECK(chosen(logits, {1, 3, 0.5f, 3}) == -1 - 30);
    CHECK(contains(rejection([] { reject_logits(-1 - 30, 40); }), "token 30 is NaN or infinite"));
    CHECK(contains(rejection([] { reject_logits(kNoToken, 40); }), "none of 40 logits"));
}

TEST_CASE("choose: one token, and a vocabulary larger than a block", "[day06][small]") {
    CHECK(chosen(seeded<float>({1}, 1, -1, 1), {1, 0, 1, 3}) == 0);
    for (const std::int64_t V : {2500, 33101}) {  // 32,768 logits are in flight at a time
        CAPTURE(V);
        Tensor<float> logits = seeded<float>({V}, 2, -4, 4);
        logits(V - 50) = 4.5f;  // the largest is among the last
        for (const SamplerOptions& options :
             {SamplerOptions{0, 0, 1, 0}, {1, 0, 1, 1}, {1, 100, 0.9f, 2}, {0.5f, 0, 0.7f, 3}}) {
            CHECK(is_right(chosen(logits, options, 7), logits, options, 7));
        }
    }
}

TEST_CASE("choose: each filter barely on, barely off, and at the list's limit", "[day06][small]") {
    const auto agrees = [](const Tensor<float>& logits, const SamplerOptions& options) {
        CAPTURE(logits.size(), options.temperature, options.top_k, options.top_p);
        for (std::int64_t step = 1; step <= 2; ++step) {
            CHECK(is_right(chosen(logits, options, step), logits, options, step));
        }
    };
    const float nearly = std::nextafter(1.0f, 0.0f);
    // Weights are rounded down, so 2,500 of them lose the last 2^-24 of their sum.
    const auto many = seeded<float>({2500}, 2, -1, 1);
    for (const std::int64_t k : {0, 1, 2499, 2500, 2501}) {
        for (const float p : {nearly, 1.0f}) agrees(many, {1, k, p, 9});
    }
    // Equal logits share one digit, with more tokens than the list of candidates can hold.
    Tensor<float> equal({1030});
    for (const std::int64_t alike : {1024, 1025}) {
        for (std::int64_t v = 0; v < 1030; ++v) equal(v) = v < alike ? 1.0f : -9.0f;
        for (const std::int64_t k : {1, 1024, 1025}) {
            agrees(equal, {1, k, 0.9f, 3});
            agrees(equal, {1, k, 1, 4});
        }
    }
}

TEST_CASE("choose: top-p ignores tokens that top-k dropped, even equally likely ones",
          "[day06][small]") {
    // Of these equal tokens only the first is kept; each of the others would have the same weight.
    for (const std::int64_t alike : {2, 3, 4, 8}) {
        Tensor<float> logits({40});
        for (std::int64_t v = 0; v < 40; ++v) logits(v) = v >= 20 && v < 20 + alike ? 2.0f : -1.0f;
        for (const float p : {0.1f, 0.5f, 0.9f}) {
            CAPTURE(alike, p);
            CHECK(chosen(logits, {1, 1, p, 5}) == 20);
            CHECK(chosen(logits, {1, 2, p, 5}) == sample(logits.view(), {1, 2, p, 5}, 1));
        }
    }
}

TEST_CASE("choose: with top-k the vocabulary is read three times, not once per digit",
          "[day06][small]") {
    const auto logits = seeded<float>({2500}, 2, -4, 4);
    DeviceIn<float> in(logits);
    gpu::Buffer<SamplerOptions> how(1);
    gpu::Buffer<std::int64_t> tokens(3), place(1);
    const auto sectors = [&](const SamplerOptions& options) -> std::int64_t {
        const std::int64_t before = 0;
        how.upload(&options, 1);
        place.upload(&before, 1);
        const auto touched = gpu::touched(
            [&] { launch_choose(in.view(), how.data(), tokens.data(), place.data()); });
        return touched ? touched->sectors : 0;
    };
    const std::int64_t once = sectors({.temperature = 0});
    if (!gpu::is_emulated()) {  // only the emulator counts sectors
        CHECK(once == 0);
        return;
    }
    CHECK(once >= 2500 * 4 / 32);
    // One pass for the largest, two to gather 40 candidates, then only those.
    CHECK(sectors({1, 40, 1, 3}) < 5 * once);
}

TEST_CASE("choose: logits that are not at a multiple of 16 bytes are rejected", "[day06][small]") {
    const gpu::Buffer<float> logits(Tensor<float>({9}));
    gpu::Buffer<SamplerOptions> how(1);
    gpu::Buffer<std::int64_t> tokens(3), place(1);
    const View<float> shifted(const_cast<float*>(logits.data()) + 1, {8});
    CHECK_THROWS_WITH(launch_choose(shifted, how.data(), tokens.data(), place.data()),
                      "sample: the logits begin 4 bytes past a multiple of 16, and are read by "
                      "vectors of 16 bytes");
}
