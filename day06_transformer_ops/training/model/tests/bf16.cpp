// A model with products on tensor cores, compared with the float model.
#include "day06_transformer_ops/training/model/trainer.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// layers, context, channels, heads, hidden, tokens
const gpt2::Config kTiny{2, 5, 16, 2, 24, 11, 1e-5f};
const gpt2::Config kOneLayer{1, 5, 16, 2, 24, 11, 1e-5f};
constexpr std::int64_t kSequences = 2;
const Batch kBatch{{1, 4, 1, 0, 3, 3, 10, 7, 7, 2}, {4, 1, 0, 3, 9, 10, 7, 7, 2, 5}};

std::vector<float> lively(const Parameters& map) {
    const Tensor<float> x = seeded<float>({map.size()}, 41, -0.4, 0.4);
    return {x.data(), x.data() + x.size()};
}
TrainingState state_of(std::vector<float> parameters) {
    const std::vector<float> zeros(parameters.size());
    return {0, std::move(parameters), zeros, zeros};
}
std::vector<float> gradients(auto& trainer, const std::vector<float>& parameters) {
    trainer.load(state_of(parameters));
    (void)trainer.accumulate(kBatch);
    std::vector<float> made = trainer.gradients();
    (void)trainer.step({.rate = 0});  // clears them
    return made;
}

// Per tensor: the norm of the difference, relative to its norm.
std::vector<double> apart(const Parameters& map, const std::vector<float>& a,
                          const std::vector<float>& b) {
    std::vector<double> differences;
    for (const Parameter& p : map.all()) {
        double difference = 0, length = 0;
        for (std::int64_t i = p.first; i < p.first + size(p.shape); ++i) {
            const auto at = static_cast<std::size_t>(i);
            difference += std::pow(double{a[at]} - double{b[at]}, 2);
            length += std::pow(double{b[at]}, 2);
        }
        differences.push_back(std::sqrt(difference / length));
    }
    return differences;
}

// Multiplies each element of the matrices by 1 + `by` or 1 - `by`, at random.
std::vector<float> moved(const Parameters& map, std::vector<float> x, std::uint64_t seed,
                         double by) {
    const Tensor<float> ways = seeded<float>({map.decayed()}, seed, -1, 1);
    for (std::int64_t i = 0; i < map.decayed(); ++i) {
        float& number = x[static_cast<std::size_t>(i)];
        number = float(double{number} * (1 + (ways(i) < 0 ? -by : by)));
    }
    return x;
}

// An empirical tolerance, not a bound, since no bound for the whole model's gradients is derived
// here. (Tests of single operations have one.) A rounding changes a number by at most 2^-8
// relatively, so the float gradients are recomputed a few times with all weights changed by 2^-8,
// in random directions. Weights are one of a product's two operands; a weight's gradient depends on
// about six roundings: two in the forward product, and two in each backward product. So six times
// the largest change is allowed: this model is within it, and one with 3-bit operands is not.
TEST_CASE("gradients on tensor cores match float up to the rounding of 8-bit operands",
          "[day06][training][small]") {
    Trainer<Cpu> floats(kTiny, kSequences);
    Trainer<CudaBf16> halves(kTiny, kSequences);
    const Parameters& map = floats.parameters();
    const std::vector<float> begin = lively(map), want = gradients(floats, begin);
    std::vector<double> most(map.all().size());
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const auto other = apart(map, gradients(floats, moved(map, begin, seed, 0x1p-8)), want);
        for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], other[i]);
    }
    const std::vector<double> got = apart(map, gradients(halves, begin), want),
                              worse =
                                  apart(map, gradients(floats, moved(map, begin, 7, 0x1p-3)), want);
    double largest = 0;
    for (std::size_t i = 0; i < most.size(); ++i) {
        CAPTURE(map.all()[i].name, most[i], got[i], worse[i]);
        CHECK(got[i] > 0);  // it did round
        CHECK(got[i] <= 6 * most[i]);
        CHECK(worse[i] > 6 * most[i]);  // operands of 3 bits
        largest = std::max(largest, got[i]);
    }
    CHECK(largest < 0.1);
}

TEST_CASE("gradients of two batches are accumulated in float", "[day06][training][small]") {
    Trainer<CudaBf16> trainer(kOneLayer, kSequences);
    trainer.load(state_of(lively(trainer.parameters())));
    (void)trainer.accumulate(kBatch);
    const std::vector<float> once = trainer.gradients();
    for (int i = 0; i < 3; ++i) (void)trainer.accumulate(kBatch);
    const std::vector<float> all = trainer.gradients();
    // Each product is accumulated, and so are the sums of biases and norms: for four
    // equal terms three additions are rounded, each term as often as a sum has parts.
    Tensor<double> want(Shape{trainer.parameters().size()});
    for (std::size_t i = 0; i < all.size(); ++i) want.data()[i] = 4 * double{once[i]};
    const Tensor<float> got(want.shape(), all);
    CHECK(close(got, want, [&](const Index& i) { return 16 * kU * std::fabs(want(i[0])) + 1e-6; }));
}

TEST_CASE("bf16: training is reproducible, and a resumed run has the bits of an uninterrupted one",
          "[day06][training][small]") {
    const auto steps = [](Trainer<CudaBf16>& trainer, int n) {
        for (int i = 0; i < n; ++i) {
            (void)trainer.accumulate(kBatch);
            (void)trainer.step({.rate = 0.01});
        }
    };
    TrainingState end[2], half;
    for (TrainingState& state : end) {
        Trainer<CudaBf16> whole(kOneLayer, kSequences);
        whole.load(state_of(lively(whole.parameters())));
        steps(whole, 1);
        half = whole.save();
        steps(whole, 1);
        state = whole.save();
    }
    Trainer<CudaBf16> resumed(kOneLayer, kSequences);
    resumed.load(half);
    steps(resumed, 1);
    for (const TrainingState& other : {end[1], resumed.save()}) {
        CHECK(other.parameters == end[0].parameters);
        CHECK(other.first == end[0].first);
        CHECK(other.second == end[0].second);
    }
}

TEST_CASE("steps below the resolution of bf16 accumulate in the master weights",
          "[day06][training][small]") {
    Trainer<CudaBf16> trainer(kOneLayer, kSequences);
    const std::vector<float> begin = lively(trainer.parameters());
    trainer.load(state_of(begin));
    for (int i = 0; i < 2; ++i) {
        (void)trainer.accumulate(kBatch);
        (void)trainer.step({.rate = 1e-6, .decay = 0});
    }
    const std::vector<float> end = trainer.weights();
    std::int64_t moved_ones = 0, same_rounded = 0;
    for (std::int64_t i = 0; i < trainer.parameters().decayed(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        moved_ones += end[at] != begin[at];
        same_rounded += bf16(end[at]).bits == bf16(begin[at]).bits;
    }
    const auto all = static_cast<double>(trainer.parameters().decayed());
    CHECK(static_cast<double>(moved_ones) > 0.7 * all);  // the others are rows of unused tokens
    CHECK(static_cast<double>(same_rounded) > 0.99 * all);
}

TEST_CASE("the loss decreases on tensor cores as in float", "[day06][training][small]") {
    const auto losses = [](auto& trainer) {
        trainer.load(state_of(trainer.parameters().begin(3)));
        std::vector<double> all;
        for (int i = 0; i < 4; ++i) {
            all.push_back(trainer.accumulate(kBatch));
            (void)trainer.step({.rate = 0.03});
        }
        return all;
    };
    Trainer<Cpu> floats(kOneLayer, kSequences);
    Trainer<CudaBf16> halves(kOneLayer, kSequences);
    const std::vector<double> want = losses(floats), got = losses(halves);
    CHECK(want.back() < 0.9 * want.front());
    for (std::size_t i = 0; i < want.size(); ++i) {
        CAPTURE(i, want[i], got[i]);
        CHECK(std::fabs(got[i] - want[i]) < 0.05 * want.front());
    }
}

TEST_CASE("bf16: the workspace has room for the bias of a wide MLP", "[day06][training][small]") {
    Trainer<CudaBf16> trainer({1, 5, 16, 2, 8192, 11, 1e-5f}, kSequences);
    trainer.load(state_of(lively(trainer.parameters())));
    CHECK(std::isfinite(trainer.accumulate(kBatch)));
}

TEST_CASE("bf16 needs heads and an MLP that are multiples of eight", "[day06][training][small]") {
    const auto said = [](const gpt2::Config& c) {
        return rejection([&] { Trainer<CudaBf16>(c, 1); });
    };
    CHECK(contains(said({1, 2, 16, 4, 16, 3, 1e-5f}), "a head has 4 and the MLP 16"));
    CHECK(contains(said({1, 2, 16, 2, 20, 3, 1e-5f}), "a head has 8 and the MLP 20"));
    CHECK(contains(said({1, 2, 136, 1, 16, 3, 1e-5f}), "a head has 136 and the MLP 16"));
    CHECK(said({1, 2, 128, 1, 16, 3, 1e-5f}).empty());
    CHECK(contains(said({1, 2, 16, 0, 16, 3, 1e-5f}), "0 heads"));
}

}  // namespace
