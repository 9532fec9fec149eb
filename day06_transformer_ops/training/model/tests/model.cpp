// Tests of the whole model's backward pass: a tiny GPT-2, whose loss is also computed in double
// with plain indices, and differentiated numerically by each of its parameters.
#include "day06_transformer_ops/training/model/counting_operations.hpp"
#include "day06_transformer_ops/training/model/trainer.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

const gpt2::Config kTiny{2, 3, 4,    2,
                         8, 5, 1e-5f};  // layers, context, channels, heads, hidden, tokens
constexpr std::int64_t kBatch = 2;
const std::vector<std::int64_t> kIds = {1, 4, 1, 0, 3, 3}, kTargets = {4, 1, 2, 3, 3, 0};

// Values large enough that attention is not uniform and no norm is the identity.
std::vector<float> lively(const Parameters& map, std::uint64_t seed = 41) {
    const Tensor<float> x = seeded<float>({map.size()}, seed, -0.6, 0.6);
    return {x.data(), x.data() + x.size()};
}
TrainingState state_of(std::vector<float> parameters) {
    const std::vector<float> zeros(parameters.size());
    return {0, std::move(parameters), zeros, zeros};
}

// --- the model in double -------------------------------------------------------------------------

using Rows2 = std::vector<std::vector<double>>;  // tokens of one sequence

struct InDouble {
    const Parameters& map;
    const double* run;
    std::vector<bool> counts = std::vector<bool>(kIds.size(), true);

    double at(const std::string& name, std::int64_t i, std::int64_t j = 0) const {
        const View<const double> v = map.view(run, name);
        return v.rank() == 2 ? v(i, j) : v(i);
    }
    Rows2 normed(const Rows2& x, const std::string& name) const {
        Rows2 out = x;
        for (auto& row : out) {
            double mean = 0, squares = 0;
            const auto C = static_cast<double>(row.size());
            for (const double e : row) mean += e / C;
            for (const double e : row) squares += (e - mean) * (e - mean) / C;
            for (std::size_t i = 0; i < row.size(); ++i) {
                row[i] = (row[i] - mean) / std::sqrt(squares + double{map.config().epsilon});
                row[i] = row[i] * at(name + ".weight", std::int64_t(i)) +
                         at(name + ".bias", std::int64_t(i));
            }
        }
        return out;
    }
    Rows2 linear(const Rows2& x, const std::string& name) const {
        const std::int64_t N = map.view(run, name + ".bias").extent(0);
        Rows2 out(x.size(), std::vector<double>(std::size_t(N)));
        for (std::size_t t = 0; t < x.size(); ++t) {
            for (std::int64_t n = 0; n < N; ++n) {
                double sum = at(name + ".bias", n);
                for (std::size_t k = 0; k < x[t].size(); ++k) {
                    sum += x[t][k] * at(name + ".weight", n, std::int64_t(k));
                }
                out[t][std::size_t(n)] = sum;
            }
        }
        return out;
    }
    Rows2 mixed(const Rows2& qkv) const {
        const auto C = std::size_t(map.config().channels), H = std::size_t(map.config().heads);
        const std::size_t D = C / H;
        Rows2 out(qkv.size(), std::vector<double>(C));
        for (std::size_t h = 0; h < H; ++h) {
            for (std::size_t t = 0; t < qkv.size(); ++t) {
                double sum = 0;
                std::vector<double> e(t + 1);
                for (std::size_t s = 0; s <= t; ++s) {
                    double dot = 0;
                    for (std::size_t d = h * D; d < (h + 1) * D; ++d) {
                        dot += qkv[t][d] * qkv[s][C + d];
                    }
                    sum += e[s] = std::exp(dot / std::sqrt(double(D)));
                }
                for (std::size_t s = 0; s <= t; ++s) {
                    for (std::size_t d = h * D; d < (h + 1) * D; ++d) {
                        out[t][d] += e[s] / sum * qkv[s][2 * C + d];
                    }
                }
            }
        }
        return out;
    }
    static void add(Rows2& x, const Rows2& y) {
        for (std::size_t t = 0; t < x.size(); ++t) {
            for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += y[t][i];
        }
    }
    double loss() const {
        const gpt2::Config& c = map.config();
        double all = 0;
        for (std::int64_t b = 0; b < kBatch; ++b) {
            Rows2 x(std::size_t(c.context), std::vector<double>(std::size_t(c.channels)));
            for (std::int64_t t = 0; t < c.context; ++t) {
                for (std::int64_t i = 0; i < c.channels; ++i) {
                    x[std::size_t(t)][std::size_t(i)] =
                        at("token_embd.weight", kIds[std::size_t(b * c.context + t)], i) +
                        at("position_embd.weight", t, i);
                }
            }
            for (std::int64_t l = 0; l < c.layers; ++l) {
                const std::string blk = "blk." + std::to_string(l) + ".";
                const Rows2 qkv = linear(normed(x, blk + "attn_norm"), blk + "attn_qkv");
                add(x, linear(mixed(qkv), blk + "attn_output"));
                Rows2 hidden = linear(normed(x, blk + "ffn_norm"), blk + "ffn_up");
                for (auto& row : hidden) {
                    for (double& e : row) {
                        e *=
                            0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (e + 0.044715 * e * e * e)));
                    }
                }
                add(x, linear(hidden, blk + "ffn_down"));
            }
            const Rows2 z = normed(x, "output_norm");
            for (std::int64_t t = 0; t < c.context; ++t) {
                double sum = 0, of_target = 0;
                for (std::int64_t v = 0; v < c.vocabulary; ++v) {
                    double logit = 0;
                    for (std::int64_t i = 0; i < c.channels; ++i) {
                        logit += z[std::size_t(t)][std::size_t(i)] * at("token_embd.weight", v, i);
                    }
                    sum += std::exp(logit);
                    if (v == kTargets[std::size_t(b * c.context + t)]) of_target = logit;
                }
                if (counts[std::size_t(b * c.context + t)]) all += std::log(sum) - of_target;
            }
        }
        return all / double(std::count(counts.begin(), counts.end(), true));
    }
};

struct Wanting {
    double loss;
    Tensor<double> gradient;
};
Wanting wanting(const Parameters& map, const std::vector<float>& begin,
                const std::vector<bool>& counts = std::vector<bool>(kIds.size(), true)) {
    Tensor<double> run({map.size()});
    for (std::int64_t i = 0; i < run.size(); ++i) run(i) = double{begin[std::size_t(i)]};
    const InDouble model{map, run.data(), counts};
    const double loss = model.loss();
    return {loss, slopes(run, [&] { return model.loss(); })};
}

Tensor<float> as_tensor(const std::vector<float>& values) {
    return Tensor<float>({static_cast<std::int64_t>(values.size())}, values);
}

template <class Device>
void check_gradient() {
    Trainer<Device> trainer(kTiny, kBatch);
    const Parameters& map = trainer.parameters();
    const std::vector<float> begin = lively(map);
    const Wanting want = wanting(map, begin);
    trainer.load(state_of(begin));
    CHECK(std::fabs(trainer.accumulate({kIds, kTargets}) - want.loss) < 1e-6);
    const Tensor<float> got = as_tensor(trainer.gradients());
    for (const Parameter& p : map.all()) {  // separately, since their magnitudes differ
        CAPTURE(p.name);
        const auto part = [&](const auto& all) {
            return slice(all.view(), 0, p.first, p.first + size(p.shape));
        };
        Tensor<double> of({size(p.shape)});
        for (std::int64_t i = 0; i < of.size(); ++i) of(i) = part(want.gradient)(i);
        CHECK(close(part(got), of, bound_of(of, 100) + 5e-8));
    }
    // Accumulates again, with half the weight.
    trainer.accumulate({kIds, kTargets}, 0.5f);
    Tensor<double> more(want.gradient.shape());
    for (std::int64_t i = 0; i < more.size(); ++i) more(i) = 1.5 * want.gradient(i);
    CHECK(close(as_tensor(trainer.gradients()), more, bound_of(more, 100)));
}

TEST_CASE("the gradient of a tiny GPT-2's loss by every parameter matches central differences",
          "[day06][training][small]") {
    check_gradient<Cpu>();
    check_gradient<Cuda>();
}

template <class Device>
void check_counts() {
    const std::vector<bool> counts = {false, true, true, false, false, true};
    Trainer<Device> trainer(kTiny, kBatch);
    const Parameters& map = trainer.parameters();
    const std::vector<float> begin = lively(map);
    const Wanting want = wanting(map, begin, counts);
    trainer.load(state_of(begin));
    CHECK(std::fabs(trainer.accumulate({kIds, kTargets, counts}) - want.loss) < 1e-6);
    CHECK(close(as_tensor(trainer.gradients()), want.gradient, bound_of(want.gradient, 100)));
    CHECK(rejection([&] {
              trainer.accumulate({kIds, kTargets, std::vector<bool>(6)});
          }) == "a batch without a target that counts: there is nothing to learn");
    CHECK(rejection([&] {
              trainer.accumulate({kIds, {1, 2}, {true}});
          }) == "a batch of 6 tokens, 2 targets and 1 marks which of them count; each must be 6");
}

TEST_CASE("a target that does not count has no gradient, and is not in the mean",
          "[day06][training][small]") {
    check_counts<Cpu>();
    check_counts<Cuda>();
}

TEST_CASE("CUDA steps match the CPU references' up to rounding, and are reproducible",
          "[day06][training][small]") {
    Trainer<Cpu> cpu(kTiny, kBatch);
    const std::vector<float> begin = lively(cpu.parameters());
    std::vector<float> made[3];
    const auto run = [&](auto& trainer) {
        trainer.load(state_of(begin));
        for (int step = 0; step < 2; ++step) {
            trainer.accumulate({kIds, kTargets});
            CHECK(trainer.step({.rate = 0.01}) > 0.1);
        }
        const TrainingState state = trainer.save();
        CHECK(state.step == 2);
        return state.parameters;
    };
    made[0] = run(cpu);
    for (int i = 1; i < 3; ++i) {
        Trainer<Cuda> ports(kTiny, kBatch);
        made[i] = run(ports);
    }
    // AdamW's steps have the same size for any gradient. Where the gradient is 0 (a bias of
    // keys shifts all scores of a query equally), rounding determines their direction.
    const Tensor<double> want = in_double(as_tensor(made[0]));
    const Tensor<double> gradient = wanting(cpu.parameters(), begin).gradient;
    const auto bound = [&](const Index& i) {
        return std::fabs(gradient(i[0])) < 1e-4 ? 0.04 : 2e-5;
    };
    CHECK(close(as_tensor(made[1]), want, bound));
    CHECK(equal(as_tensor(made[1]), as_tensor(made[2])));
}

TEST_CASE("matrices decay, norms and biases do not", "[day06][training][small]") {
    Trainer<Cpu> trainer(kTiny, kBatch);
    const std::vector<float> begin = lively(trainer.parameters());
    trainer.load(state_of(begin));
    CHECK(trainer.step({.rate = 0.5, .decay = 0.5f}) == 0);  // no gradient: only decay
    const std::vector<float> after = trainer.save().parameters;
    for (const Parameter& p : trainer.parameters().all()) {
        const auto i = static_cast<std::size_t>(p.first);
        CAPTURE(p.name);
        CHECK(after[i] == (p.shape.rank == 2 ? 0.75f : 1.0f) * begin[i]);
    }
}

TEST_CASE("a run resumed from its state has the bits of an uninterrupted one",
          "[day06][training][small]") {
    Trainer<Cpu> whole(kTiny, kBatch);
    whole.load(state_of(whole.parameters().begin(7)));
    TrainingState half;
    for (int step = 0; step < 6; ++step) {
        if (step == 3) half = whole.save();
        whole.accumulate({kIds, kTargets});
        whole.step({});
    }
    Trainer<Cpu> resumed(kTiny, kBatch);
    resumed.load(half);
    for (int step = 3; step < 6; ++step) {
        resumed.accumulate({kIds, kTargets});
        resumed.step({});
    }
    CHECK(equal(as_tensor(resumed.save().parameters), as_tensor(whole.save().parameters)));
    CHECK(equal(as_tensor(resumed.save().second), as_tensor(whole.save().second)));
    CHECK(resumed.save().step == 6);
}

TEST_CASE("a model begins with norms of 1, biases of 0, and matrices of two standard deviations",
          "[day06][training][small]") {
    const Parameters map({2, 16, 32, 4, 128, 64, 1e-5f});
    const std::vector<float> run = map.begin(3);
    CHECK(run == map.begin(3));
    CHECK(run != map.begin(4));
    const auto deviation = [&](const std::string& name) {
        const View<const float> v = map.view(run.data(), name);
        double squares = 0;
        for (std::int64_t i = 0; i < v.size(); ++i) squares += std::pow(double{v.data[i]}, 2);
        return std::sqrt(squares / static_cast<double>(v.size()));
    };
    CHECK(std::fabs(deviation("blk.1.attn_qkv.weight") - 0.02) < 0.001);
    CHECK(std::fabs(deviation("blk.1.ffn_down.weight") - 0.01) < 0.001);
    CHECK(deviation("blk.0.attn_norm.weight") == 1);
    CHECK(deviation("blk.0.ffn_up.bias") == 0);
    CHECK(contains(rejection([] {
                       Parameters({2, 16, 30, 4, 128, 64, 1e-5f});
                   }),
                   "4 heads do not divide 30 channels equally"));
    const char* const named[] = {"layers", "positions",       "channels",
                                 "heads",  "hidden channels", "tokens"};
    for (std::size_t i = 0; i < std::size(named); ++i) {
        gpt2::Config c{2, 16, 32, 4, 128, 64, 1e-5f};
        *std::array{&c.layers, &c.context, &c.channels, &c.heads, &c.hidden, &c.vocabulary}[i] = 0;
        CHECK(rejection([&] { Parameters{c}; }) ==
              std::string("a model of 0 ") + named[i] + "; 1 is the least");
    }
}

TEST_CASE("the workspace of a run is the largest that any of its operations needs",
          "[day06][training][small]") {
    // Views without memory, since only shapes matter.
    const auto of = [](const Shape& shape) { return View<float>(nullptr, shape); };
    const View<const float> q = of({1, 1, 64}), k = of({1, 512, 64}), x = of({640, 64});
    const View<const float> in = of({16, 16384}), weight = of({16384, 512});
    const View<float> out = of({16, 512});
    const LinearGradients d{of({16384, 512}), {}};
    const auto counts = [](std::int64_t needed, const auto& call) {
        REQUIRE(needed > 0);
        CountingOperations counting;
        call(counting);
        CHECK(counting.bytes == needed);
        counting.bytes = needed + 1;  // from an earlier operation
        call(counting);
        CHECK(counting.bytes == needed + 1);
    };
    using Counting = CountingOperations;
    counts(day05_matmul::matmul_workspace_bytes(in, weight, out),
           [&](Counting& c) { c.matmul(in, weight, {}, out); });
    counts(attention_workspace_bytes(q, k, k),
           [&](Counting& c) { c.attention(q, k, k, of({}), of({})); });
    counts(layer_norm_backward_workspace_bytes(x),
           [&](Counting& c) { c.layer_norm_backward(x, {}, {}, of({}), {}); });
    counts(linear_backward_workspace_bytes(in, weight, out, d),
           [&](Counting& c) { c.linear_backward(in, weight, out, of({}), d); });
    counts(attention_backward_workspace_bytes(q),
           [&](Counting& c) { c.attention_backward(q, k, k, q, q, q, {}); });
    counts(gradient_norm_workspace_bytes(), [&](Counting& c) { c.gradient_norm({}, {}); });
}

}  // namespace
