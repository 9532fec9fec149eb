// Several trainers that train as one, without several GPUs: they share one device, each has its own
// thread, and the host sums what NCCL would.
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "day06_transformer_ops/training/model/trainers.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

const gpt2::Config kModel{2, 3, 4,    2,
                          8, 5, 1e-5f};  // layers, context, channels, heads, hidden, tokens
constexpr std::int64_t kSequences = 4, kTokens = kSequences * 3;
const Batch kBatch{{1, 4, 1, 0, 3, 3, 2, 2, 0, 4, 1, 3},
                   {4, 1, 2, 3, 3, 0, 2, 0, 1, 1, 3, 4},
                   // The first two sequences have one target that counts, the last one has three.
                   {false, false, false, false, false, true, true, false, true, true, true, true}};

TrainingState lively_state(const Parameters& map) {
    const Tensor<float> x = seeded<float>({map.size()}, 41, -0.6, 0.6);
    const std::vector<float> zeros(static_cast<std::size_t>(map.size()));
    return {0, {x.data(), x.data() + x.size()}, zeros, zeros};
}

Tensor<float> one_run(const std::vector<float>& values) {
    return Tensor<float>({static_cast<std::int64_t>(values.size())}, values);
}

/// NcclSum's sum on the host, in the order of GPUs.
template <class Device>
class HostSum {
public:
    explicit HostSum(int gpus) : gpus_(gpus) {}
    int gpus() const { return gpus_; }
    void use(int gpu) {
        const std::lock_guard lock(mutex_);
        used_[std::this_thread::get_id()] = gpu;
    }
    void mark(int gpu, std::int64_t mark) {
        const std::lock_guard lock(mutex_);
        if (fails_.count(gpu) == 1) throw std::runtime_error("an illegal memory access");
        CHECK(gpu == used_.at(std::this_thread::get_id()));
        // The mark of everything comes after those of the layers.
        for (std::int64_t layer = 0; mark < 0 && layer < kModel.layers; ++layer) {
            CHECK(marks_.count({gpu, layer}) == 1);
        }
        marks_.insert({gpu, mark});
    }
    void add_up(std::int64_t mark, const std::vector<float*>& runs, std::int64_t size) {
        waiting_ = true;
        for (int gpu = 0; gpu < gpus_; ++gpu) CHECK(marks_.count({gpu, mark}) == 1);
        std::vector<float> sum(static_cast<std::size_t>(size)), more(sum.size());
        const std::size_t bytes = sum.size() * sizeof(float);
        for (const float* run : runs) {
            copy(more.data(), run, bytes, true);
            for (std::size_t i = 0; i < sum.size(); ++i) {
                sum[i] += halves_ ? float{bf16{more[i]}} : more[i];
            }
        }
        for (float* run : runs) copy(run, sum.data(), bytes, false);
        added_ += size;
    }
    void wait() { marks_.clear(), waiting_ = false; }

    std::int64_t added_ = 0;  // elements in all sums so far
    bool waiting_ = false;    // sums are pending: wait() was not called
    bool halves_ = false;     // a worse sum: the GPUs' terms have half the bits
    std::set<int> fails_;

    // How many threads have used a GPU.
    std::size_t threads() const { return used_.size(); }

private:
    static void copy(float* to, const float* from, std::size_t bytes, bool to_host) {
        if constexpr (std::is_same_v<Device, Cpu>) {
            std::copy_n(from, bytes / sizeof(float), to);
        } else {
            to_host ? gpu::detail::copy_to_host(to, from, bytes)
                    : gpu::detail::copy_to_device(to, from, bytes);
        }
    }
    int gpus_;
    std::mutex mutex_;
    std::map<std::thread::id, int> used_;
    std::set<std::pair<int, std::int64_t>> marks_;
};

// An element of a gradient is a sum over the batch's tokens. Splitting the batch only changes the
// order of summation: each term takes part in at most one rounding per token, and two for combining
// the sums. Both orders have this error. The magnitude of the terms is taken from the gradient of
// each target alone: the largest element of each tensor.
Bound of_two_orders(const std::vector<float>& parameters) {
    Trainer<Cpu> trainer(kModel, kSequences);
    const Parameters& map = trainer.parameters();
    trainer.load(lively_state(map));
    Tensor<double> sizes({map.size()});
    double counted = counting(kBatch);
    for (std::size_t target = 0; target < kBatch.counts.size(); ++target) {
        if (!kBatch.counts[target]) continue;
        Batch one = kBatch;
        one.counts.assign(one.counts.size(), false);
        one.counts[target] = true;
        (void)trainer.accumulate(one, static_cast<float>(1 / counted));
        const std::vector<float> gradient = trainer.gradients();
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            sizes.data()[i] += std::fabs(double{gradient[i]});
        }
        (void)trainer.step({.rate = 0});  // clears it
    }
    for (const Parameter& p : map.all()) {
        const auto first = sizes.data() + p.first, last = first + size(p.shape);
        std::fill(first, last, *std::max_element(first, last));
    }
    CHECK(trainer.save().parameters == parameters);
    return rounded(sizes, 2 * (kTokens + 2));
}

template <class Device>
void check_trainers(int gpus) {
    CAPTURE(gpus);
    Trainer<Device> whole(kModel, kSequences);
    HostSum<Device> sum(gpus);
    Trainers<Device, HostSum<Device>> trainers(kModel, kSequences, sum);
    const TrainingState begin = lively_state(whole.parameters());
    whole.load(begin);
    trainers.load(begin);
    const double loss = whole.accumulate(kBatch);
    CHECK(std::fabs(trainers.accumulate(kBatch, 1, true) - loss) < 16 * kU * loss);
    CHECK(sum.added_ == whole.parameters().size());  // each element once
    CHECK_FALSE(sum.waiting_);
    CHECK(sum.threads() == static_cast<std::size_t>(gpus));
    const Bound bound = of_two_orders(begin.parameters);
    for (const Trainer<Device>& trainer : trainers.all()) {
        CHECK(close(one_run(trainer.gradients()), in_double(one_run(whole.gradients())), bound));
        CHECK(trainer.gradients() == trainers.all()[0].gradients());
    }
    CHECK(std::fabs(trainers.step({}) - whole.step({})) < 1e-6);
    for (const Trainer<Device>& trainer : trainers.all()) {
        CHECK(trainer.save().parameters == trainers.save().parameters);
        CHECK(trainer.save().second == trainers.save().second);
    }

    HostSum<Device> worse(gpus);
    worse.halves_ = true;
    Trainers<Device, HostSum<Device>> halves(kModel, kSequences, worse);
    halves.load(begin);
    (void)halves.accumulate(kBatch, 1, true);
    whole.load(begin);
    (void)whole.accumulate(kBatch);
    CHECK_FALSE(
        close(one_run(halves.all()[0].gradients()), in_double(one_run(whole.gradients())), bound));
}

TEST_CASE("parts of a batch sum to the batch's loss and gradients, identically on every GPU",
          "[day06][training][small]") {
    check_trainers<Cpu>(2);
    check_trainers<Cpu>(4);
    check_trainers<Cuda>(2);
}

// With more than 64 queries, attention saves its output and log-sum-exps for the backward pass.
TEST_CASE("a context longer than a tile: CUDA gradients match the CPU references",
          "[day06][training][small]") {
    const gpt2::Config config{1, 66, 8, 2, 16, 5, 1e-5f};
    REQUIRE(attention_keeps_cuda({nullptr, Shape{1, 2, 66, 4}}));
    Batch batch;
    for (std::int64_t i = 0; i < 66; ++i) {
        batch.ids.push_back(i * 7 % 5), batch.targets.push_back((i * i + 3) % 5);
    }
    Trainer<Cpu> loop(config, 1);
    Trainer<Cuda> port(config, 1);
    loop.load(lively_state(loop.parameters()));
    port.load(lively_state(loop.parameters()));
    const double loss = loop.accumulate(batch);
    CHECK(std::fabs(port.accumulate(batch) - loss) < 1e-6);
    const std::vector<float> want = loop.gradients(), got = port.gradients();
    for (const Parameter& p : loop.parameters().all()) {
        CAPTURE(p.name);
        const auto of = [&](const std::vector<float>& all) {
            return one_run({all.begin() + p.first, all.begin() + p.first + size(p.shape)});
        };
        const Tensor<double> wide = in_double(of(want));
        CHECK(close(of(got), wide, bound_of(wide, 2 * 66)));
    }
}

TEST_CASE("gradients of a layer's matrices are final once the layer is done",
          "[day06][training][small]") {
    Trainer<Cpu> trainer(kModel, kSequences);
    const Parameters& map = trainer.parameters();
    trainer.load(lively_state(map));
    std::vector<std::vector<float>> then(static_cast<std::size_t>(kModel.layers));
    trainer.start(kBatch, 1, [&](std::int64_t layer) {
        then[static_cast<std::size_t>(layer)] = trainer.gradients();
    });
    const std::vector<float> end = trainer.gradients();
    for (std::int64_t layer = 0; layer < kModel.layers; ++layer) {
        CAPTURE(layer);
        const auto of_layer = [&](const std::vector<float>& all) {
            REQUIRE(all.size() == end.size());
            return std::vector<float>(all.begin() + map.matrices_begin(layer),
                                      all.begin() + map.matrices_begin(layer + 1));
        };
        CHECK(of_layer(then[static_cast<std::size_t>(layer)]) == of_layer(end));
        const std::vector<float> matrices = of_layer(end);
        CHECK(std::count(matrices.begin(), matrices.end(), 0) == 0);
    }
}

TEST_CASE("a step of several batches sums gradients over GPUs once, with the last batch",
          "[day06][training][small]") {
    Trainer<Cpu> whole(kModel, kSequences);
    HostSum<Cpu> sum(2);
    Trainers<Cpu, HostSum<Cpu>> trainers(kModel, kSequences, sum);
    whole.load(lively_state(whole.parameters()));
    trainers.load(lively_state(whole.parameters()));
    Batch other = kBatch;
    std::reverse(other.ids.begin(), other.ids.end());
    (void)whole.accumulate(other, 0.5f);
    (void)whole.accumulate(kBatch, 0.5f);
    (void)trainers.accumulate(other, 0.5f, false);
    CHECK(sum.added_ == 0);
    (void)trainers.accumulate(kBatch, 0.5f, true);
    const Tensor<double> want = in_double(one_run(whole.gradients()));
    for (const Trainer<Cpu>& trainer : trainers.all()) {
        CHECK(close(one_run(trainer.gradients()), want, bound_of(want, 2 * (kTokens + 2))));
    }
}

TEST_CASE("one GPU sums nothing, and has the bits of a single trainer",
          "[day06][training][small]") {
    Trainer<Cpu> whole(kModel, kSequences);
    NcclSum none(1);
    Trainers<Cpu> one(kModel, kSequences, none);
    whole.load(lively_state(whole.parameters()));
    one.load(lively_state(whole.parameters()));
    CHECK(one.accumulate(kBatch, 1, true) == whole.accumulate(kBatch));
    CHECK(one.step({}) == whole.step({}));
    CHECK(one.save().parameters == whole.save().parameters);
}

TEST_CASE("an error on one of several GPUs is reported with its name", "[day06][training][small]") {
    HostSum<Cpu> sum(4);
    Trainers<Cpu, HostSum<Cpu>> trainers(kModel, kSequences, sum);
    trainers.load(lively_state(trainers.parameters()));
    const auto said = [&] {
        try {
            (void)trainers.accumulate(kBatch, 1, true);
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string("nothing failed");
    };
    sum.fails_ = {3};
    CHECK(said() == "GPU 3 of 0 to 3: an illegal memory access");
    sum.fails_ = {3, 1, 2};
    CHECK(said() == "GPU 1 of 0 to 3: an illegal memory access");  // the first of them
    CHECK(sum.added_ == 0);
    sum.fails_ = {};
    CHECK(said() == "nothing failed");
}

TEST_CASE("GPUs that cannot divide a batch, or do not exist, are rejected",
          "[day06][training][small]") {
    HostSum<Cpu> three(3);
    const auto trainers = [&] { Trainers<Cpu, HostSum<Cpu>>(kModel, kSequences, three); };
    const auto gpus = [](std::int64_t n) { return rejection([n] { NcclSum sum(n); }); };
    CHECK(rejection(trainers) == "4 sequences cannot be divided equally among 3 GPUs");
    CHECK(contains(gpus(100000), "100000 GPUs were requested, but "));
    CHECK(contains(gpus(std::int64_t{1} << 32), "4294967296 GPUs were requested, but "));
}

}  // namespace
