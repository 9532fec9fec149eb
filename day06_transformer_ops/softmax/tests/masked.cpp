// The proof of masked_softmax and causal_softmax: loops and every path against float64, over every
// element.
#include "day06_transformer_ops/softmax/tests/bound.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// --- masked --------------------------------------------------------------------------------------

// The mask has x's rank; where its extent is 1 it repeats.
template <class T>
void check_masked(const Tensor<T>& x, const Tensor<std::uint8_t>& mask, int dim,
                  const Layout& layout) {
    CAPTURE(to_string(layout), to_string(mask.shape()), dim);
    Expected want(x.shape());
    const View<const std::uint8_t> seen = broadcast_to(mask.view(), x.shape());
    for (std::int64_t k = 0; k < x.size(); ++k) {
        const Index at = unravel(k, x.shape());
        std::vector<double> row;
        Index i = at;
        std::int64_t mine = -1;
        for (i[dim] = 0; i[dim] < x.shape()[dim]; ++i[dim]) {
            if (seen(i) == 0) continue;
            if (i[dim] == at[dim]) mine = static_cast<std::int64_t>(row.size());
            row.push_back(static_cast<double>(static_cast<float>(x.view()(i))));
        }
        const auto n = static_cast<std::int64_t>(row.size());
        if (mine >= 0) {
            put(want, Sibling::softmax, sums_of(row, n),
                static_cast<double>(static_cast<float>(x.view()(at))), n, mine,
                static_cast<double>(n), at, std::is_same_v<T, float> ? 0 : 0x1.02p-8);
        } else {
            // Without shares, there is no 0 either.
            want.value.view()(at) = sums_of(row, n).sum > 0 ? 0.0 : NAN;
        }
    }
    HostIn<T> h(x, layout);
    HostOut<T> loop(layout);
    masked_softmax_cpu(h.view(), mask.view(), dim, loop.view());
    CHECK(agrees(loop, want));
    DeviceIn<T> d(x, layout);
    DeviceIn<std::uint8_t> dm(mask);
    for (const SoftmaxPath path : {SoftmaxPath::thread_a_row, SoftmaxPath::registers}) {
        CAPTURE(name(path));
        DeviceOut<T> got(layout);
        if (!refusal([&] {
                 check_masked_softmax<T>(d.view(), dm.view(), dim, got.view(), path);
             }).empty()) {
            continue;
        }
        masked_softmax_cuda(d.view(), dm.view(), dim, got.view(), {.path = path});
        CHECK(agrees(got, want));
    }
    CHECK(d.unchanged());
    CHECK(dm.unchanged());
}

TEST_CASE(
    "masked_softmax shares among what the mask lets through, and never computes with the rest",
    "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({2, 3, 5});
    Tensor<std::uint8_t> mask({2, 3, 5});
    for (std::int64_t k = 0; k < 30; ++k) mask.data()[k] = (k * 7 % 5 < 3 || k == 11) ? 200 : 0;
    for (std::int64_t i = 0; i < 5; ++i) mask(1, 1, i) = 0;  // nothing is let through
    for (std::int64_t k = 0; k < 30; k += 2) {
        if (mask.data()[k] == 0) x.data()[k] = k % 3 == 0 ? NAN : INFINITY;
    }
    for (int dim = 0; dim < 3; ++dim) {
        check_masked(x, mask, dim, row_major({2, 3, 5}));
        check_masked(x, mask, dim, column_major({2, 3, 5}));
    }
    check_masked(noise<float>({2, 3, 5}), Tensor<std::uint8_t>({1, 1, 5}, {1, 0, 1, 1, 0}), 2,
                 row_major({2, 3, 5}));
    check_masked(noise<float>({2, 3, 8}), Tensor<std::uint8_t>({1, 3, 1}, {1, 0, 1}), 2,
                 row_major({2, 3, 8}));
    for (const std::int64_t n : {4, 37, 260, 300, 600, 1028, 2052}) {
        Tensor<std::uint8_t> some = seeded_integers<std::uint8_t>({6, n}, 3, 0, 1);
        some(5, n - 1) = 200;
        check_masked(noise<float>({6, n}), some, 1, row_major({6, n}));
        check_masked(noise<bf16>({6, n}), some, 1, row_major({6, n}));
    }
    check_masked(noise<float>({2, 2, 2, 3, 4}),
                 seeded_integers<std::uint8_t>({2, 2, 2, 3, 4}, 7, 0, 1), 4,
                 Layout({2, 2, 2, 3, 4}, {288, 136, 64, 20, 1}));
    check_masked(noise<float>({2, 3, 5, 8}), seeded_integers<std::uint8_t>({5, 8}, 3, 0, 1), 3,
                 row_major({2, 3, 5, 8}));
}

// --- causal --------------------------------------------------------------------------------------

template <class T>
void check_causal(const Tensor<T>& x, const Layout& layout, Lead lead = {}) {
    CAPTURE(to_string(layout));
    const int last = layout.rank() - 1;
    const std::int64_t tokens = layout.extent(last - 1), S = layout.extent(last);
    for (const SoftmaxPath path : kPaths) {
        CAPTURE(name(path));
        Expected want(x.shape());
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const Index at = unravel(k, x.shape());
            const std::vector<double> row = row_at(x, last, at);
            const std::int64_t n = at[last - 1] + 1 + S - tokens;
            put(want, Sibling::softmax, sums_of(row, n), row[static_cast<std::size_t>(at[last])], n,
                at[last], chain(path, n), at, std::is_same_v<T, float> ? 0 : 0x1.02p-8);
        }
        HostIn<T> h(x, layout);
        HostOut<T> loop(layout);
        causal_softmax_cpu(h.view(), loop.view());
        if (path == SoftmaxPath::thread_a_row) CHECK(agrees(loop, want));
        DeviceIn<T> d(x, layout, lead);
        DeviceOut<T> got(layout, lead);
        if (!refusal([&] { check_causal_softmax<T>(d.view(), got.view(), path); }).empty())
            continue;
        causal_softmax_cuda(d.view(), got.view(), {.path = path});
        CHECK(agrees(got, want));
    }
}

TEST_CASE("what a token does not see gets 0, even if what it sees holds a NaN",
          "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({6, 8});
    x(2, 1) = NAN;
    check_causal(x, row_major(x.shape()));
}

TEST_CASE("a NaN that the mask lets through makes all of its row NaN, and one that it hides none",
          "[day06][softmax][small]") {
    for (const std::int64_t n : {5, 8}) {  // the twin, and rows in registers
        Tensor<float> x = noise<float>({4, n});
        Tensor<std::uint8_t> mask({4, n});
        for (std::int64_t k = 0; k < 4 * n; ++k) mask.data()[k] = k % 3 != 1;
        x(0, 0) = NAN;  // seen
        x(1, 0) = INFINITY;
        mask(1, 0) = 1;
        x(2, 2) = NAN;
        mask(2, 2) = 0;
        DeviceIn<float> d(x);
        DeviceIn<std::uint8_t> dm(mask);
        DeviceOut<float> got({4, n});
        masked_softmax_cuda(d.view(), dm.view(), 1, got.view());
        const Tensor<float> y = got.values();
        for (std::int64_t k = 0; k < 4 * n; ++k) CHECK(std::isnan(y.data()[k]) == (k < 2 * n));
        CHECK(y(2, 2) == 0);
        check_masked(x, mask, 1, row_major({4, n}));
    }
}

TEST_CASE("a token looks at itself and back, never ahead: what NumPy says",
          "[day06][softmax][small]") {
    for (const GoldenCausal& c : golden_causal) {
        const Tensor<float> x = noise<float>({c.T, c.S});
        DeviceIn<float> d(x);
        HostOut<float> loop({c.T, c.S});
        DeviceOut<float> got({c.T, c.S});
        causal_softmax_cpu(x.view(), loop.view());
        causal_softmax_cuda(d.view(), got.view());
        const auto known = [&](const Index& i) {
            return c.out[static_cast<std::size_t>(ravel(i, {c.T, c.S}))];
        };
        Expected want({c.T, c.S});
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const Index at = unravel(k, x.shape());
            want.value.view()(at) = known(at);
            const std::vector<double> row = row_at(x, 1, at);
            const std::int64_t n = at[0] + 1 + c.S - c.T;
            want.error.view()(at) = allowed(
                Sibling::softmax, known(at),
                row[static_cast<std::size_t>(at[1])] - sums_of(row, n).m, double(n), double(n));
            if (at[1] >= n) want.error.view()(at) = 0;
        }
        CHECK(agrees(loop, want));
        CHECK(agrees(got, want));
    }
}

TEST_CASE("causal_softmax takes stacks of scores of any layout, and never reads ahead",
          "[day06][softmax][small]") {
    check_causal(noise<float>({2, 3, 4, 6}), row_major({2, 3, 4, 6}));
    check_causal(noise<float>({2, 3, 4, 6}), column_major({2, 3, 4, 6}));
    check_causal(noise<float>({2, 3, 5, 8}), Layout({2, 3, 5, 8}, {8, 96, -16, 1}), Lead{8});
    // Four dims of rows that nothing merges, and tokens lie farthest apart.
    check_causal(noise<float>({2, 2, 2, 3, 4}), Layout({2, 2, 2, 3, 4}, {5, 11, 23, 47, 1}));
    check_causal(noise<float>({3, 40, 40}), row_major({3, 40, 40}));
    check_causal(noise<bf16>({3, 40, 40}), row_major({3, 40, 40}));
    check_causal(noise<float>({2, 3, 300}), row_major({2, 3, 300}));
    Tensor<float> x = noise<float>({8, 8});
    for (std::int64_t t = 0; t < 8; ++t) {
        for (std::int64_t s = t + 1; s < 8; ++s) x(t, s) = (t + s) % 2 == 0 ? NAN : INFINITY;
    }
    check_causal(x, row_major({8, 8}));
}

}  // namespace
