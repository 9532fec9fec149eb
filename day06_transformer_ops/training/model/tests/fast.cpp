// Training on the CPU: blocked products, and rows distributed over threads.
#include "day06_transformer_ops/training/model/product_fast.hpp"
#include "day06_transformer_ops/training/model/trainer.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// out = alpha * a . b + beta * out + bias against a sum in double. A sum of K + 2 floats has an
// error of at most one rounding per term; factors round once more.
void check_product(const View<const float>& a, const View<const float>& b, gpt2::Threads& threads,
                   float alpha = 1, float beta = 1, bool columns = false) {
    const std::int64_t M = a.extent(0), N = b.extent(1), K = a.extent(1);
    CAPTURE(M, N, K, to_string(a.layout), to_string(b.layout), threads.count());
    const Tensor<float> bias = seeded<float>({N}, 5, -1, 1),
                        before = seeded<float>({M, N}, 6, -1, 1);
    Tensor<double> want({M, N}), sizes({M, N});
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            const auto add = [&](double x) { want(m, n) += x, sizes(m, n) += std::fabs(x); };
            add(double{beta} * before(m, n)), add(bias(n));
            for (std::int64_t k = 0; k < K; ++k) add(double{alpha} * a(m, k) * b(k, n));
        }
    }
    const Layout layout = columns ? column_major({M, N}) : row_major({M, N});
    auto out = HostOut<float>::holding(before, layout);
    matmul_fast(a, b, {alpha, beta, bias.view()}, out.view(), threads);
    CHECK(out.close_to(want, [&](const Index& i) { return double(K + 4) * kU * sizes(i); }));
}

}  // namespace

TEST_CASE("the fast product: any strides, ragged edges, any number of threads",
          "[day06][training][small]") {
    gpt2::Threads one(1), three(3);
    for (gpt2::Threads* threads : {&one, &three}) {
        for (const Shape& s :
             {Shape{1, 1, 1}, Shape{5, 15, 3}, Shape{6, 16, 1}, Shape{7, 17, 33}, Shape{13, 31, 0},
              Shape{0, 17, 5}, Shape{7, 0, 5}, Shape{24, 48, 20}, Shape{100, 5, 64}}) {
            const std::int64_t M = s[0], N = s[1], K = s[2];
            const Tensor<float> a = seeded<float>({M, K}, 1, -1, 1),
                                b = seeded<float>({K, N}, 2, -1, 1);
            const Tensor<float> at = seeded<float>({K, M}, 3, -1, 1),
                                bt = seeded<float>({N, K}, 4, -1, 1);
            check_product(a.view(), b.view(), *threads);
            check_product(transpose(at.view()), b.view(), *threads);
            check_product(a.view(), transpose(bt.view()), *threads);
            check_product(flip(a.view(), 0), flip(b.view(), 1), *threads);
            check_product(a.view(), b.view(), *threads, -1.5f, 0.25f, true);
        }
    }
    const Tensor<float> a({2, 3, 4}), b({2, 4, 5});
    Tensor<float> out({2, 3, 5});
    CHECK(contains(rejection([&] { matmul_fast(a.view(), b.view(), {}, out.view(), one); }),
                   "matmul_fast: b has shape (2, 4, 5), a stack"));
}

TEST_CASE("the fast product: rows in several dimensions, and alpha = 0 reads neither operand",
          "[day06][training][small]") {
    gpt2::Threads two(2);
    const Tensor<float> a = seeded<float>({2, 5, 4}, 1, -1, 1),
                        b = seeded<float>({4, 17}, 2, -1, 1);
    const Epilogue e = {2, 0, {}, true};
    HostOut<float> want({2, 5, 17}), out({2, 5, 17});
    day05_matmul::matmul_cpu(a.view(), b.view(), e, want.view());
    matmul_fast(a.view(), b.view(), e, out.view(), two);
    CHECK(out.close_to(want.values(), 8 * 6 * kU));  // numbers up to 8, 6 roundings

    const Tensor<float> nan({2, 2}, {NAN, INFINITY, NAN, 1}), bias({2}, {1, 2});
    auto half = HostOut<float>::holding(Tensor<float>({2, 2}, {2, 4, 6, 8}));
    matmul_fast(nan.view(), nan.view(), {0, 0.5f, bias.view()}, half.view(), two);
    CHECK(half.matches(Tensor<float>({2, 2}, {2, 4, 4, 6})));
}

template <class Device>
void check_tokens_rejected(const typename Device::Operations& operations) {
    Trainer<Device> trainer({1, 2, 8, 2, 16, 17, 1e-5f}, 4, operations);
    TrainingState state;
    state.parameters = trainer.parameters().begin(2);
    state.first = state.second = std::vector<float>(state.parameters.size());
    trainer.load(state);
    const Batch right = {{0, 1, 2, 3, 4, 5, 6, 16}, {1, 2, 3, 4, 5, 6, 16, 0}};
    for (const std::size_t i : {0, 7}) {  // the caller's part, and another thread's
        Batch batch = right;
        batch.targets[i] = 17;
        CHECK(rejection([&] { trainer.accumulate(batch); }) ==
              "a batch whose target " + std::to_string(i) + " is 17, but tokens are 0 to 16");
        batch.ids[i] = -1;
        CHECK(rejection([&] { trainer.accumulate(batch); }) ==
              "a batch whose id " + std::to_string(i) + " is -1, but tokens are 0 to 16");
    }
    CHECK(trainer.accumulate(right) > 0);
}

TEST_CASE("tokens that the vocabulary lacks are rejected before threads process them",
          "[day06][training][small]") {
    gpt2::Threads two(2);
    check_tokens_rejected<Cpu>({});
    check_tokens_rejected<Cpu>({&two});
    check_tokens_rejected<Cuda>({});
    CHECK(noexcept(two.run([](int) {})));  // an exception in any part would end the program
}

TEST_CASE("training with threads: the same bits for any number, and close to the CPU references",
          "[day06][training][small]") {
    const gpt2::Config config{2, 5, 24, 4, 96, 17, 1e-5f};
    Batch batch;
    for (std::int64_t i = 0; i < 3 * 5; ++i) {
        batch.ids.push_back(i * 7 % 17), batch.targets.push_back((i * 5 + 3) % 17);
    }
    const auto trained = [&](gpt2::Threads* threads) {
        Trainer<Cpu> trainer(config, 3, {threads});
        TrainingState state;
        state.parameters = trainer.parameters().begin(2);
        state.first.resize(state.parameters.size());
        state.second.resize(state.parameters.size());
        trainer.load(state);
        double loss = 0;
        for (int step = 0; step < 20; ++step) {
            loss = trainer.accumulate(batch);
            (void)trainer.step({.rate = 0.01});
        }
        return std::pair{loss, trainer.save().parameters};
    };
    gpt2::Threads one(1), two(2), five(5);
    const auto by_one = trained(&one);
    CHECK(trained(&two) == by_one);
    CHECK(trained(&five) == by_one);  // more than there are sequences
    const double by_loops = trained(nullptr).first;
    CHECK(by_loops < 1);  // log 17 = 2.83 at first
    CHECK(std::fabs(by_one.first - by_loops) < 1e-4);
}
