// The cases that `common/learn check` runs for add_transposed. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "day03_views/exercises/add_transposed/add_transposed.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// What is added to a(m, n) instead of a(n, m).
std::string cause(const Tensor<float>& got, const Tensor<float>& a) {
    const std::int64_t N = a.shape()[0], T = 32;
    const auto with = [&](const auto& row, const auto& column) {
        Tensor<double> y(a.shape());
        for (std::int64_t m = 0; m < N; ++m) {
            for (std::int64_t n = 0; n < N; ++n) {
                const std::int64_t r = row(m, n), c = column(m, n);
                y(m, n) = r < N && c < N ? double(a(m, n)) + a(r, c) : NAN;
            }
        }
        return y;
    };
    using I = std::int64_t;
    const auto m_of = [](I m, I) { return m; };
    const auto n_of = [](I, I n) { return n; };
    const std::string not_turned =
        "Nothing is transposed within the tile: thread (x, y) loads row y of the tile, and must "
        "add the element in row x, column y.";
    const std::string known =
        likely_mistake(got, with(n_of, m_of),
                       {{"Each tile was added to its own transpose. Off the diagonal, a tile "
                         "needs the mirrored tile of a: it begins in row n0 and column m0.",
                         with([](I m, I n) { return m / T * T + n % T; },
                              [](I m, I n) { return n / T * T + m % T; })},
                        {not_turned, with([](I m, I n) { return n / T * T + m % T; },
                                          [](I m, I n) { return m / T * T + n % T; })},
                        {not_turned, with(m_of, n_of)}})
            .cause;
    if (!known.empty()) return known;
    const Shape shape{3, 3};
    const auto both = [](const Index& out, const Index& e) {
        return e == out || (e[0] == out[1] && e[1] == out[0]);
    };
    return read_wrongly({"out", "mn", shape, {{"a", shape, both}}},
                        [=](const auto& in, float* out) {
                            add_transposed_cuda({in[0], shape}, {out, shape});
                        });
}

void check_port(std::int64_t N) {
    CAPTURE(N);
    const Tensor<float> a = distinct<float>({N, N});
    HostOut<float> want({N, N});
    add_transposed_cpu(a.view(), want.view());
    DeviceIn<float> from(a, Lead{1});
    DeviceOut<float> got({N, N}, Lead{3});
    practise_port([&] { add_transposed_cuda(from.view(), got.view()); }, got, want,
                  [&] { return cause(got.values(), a); });
    REQUIRE(from.unchanged());
}

TEST_CASE("add_transposed: the example of the statement", "[day03][add_transposed][small]") {
    const Tensor<float> a({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Tensor<float> answer({3, 3}, {2, 6, 10, 6, 10, 14, 10, 14, 18});
    HostOut<float> loop({3, 3});
    add_transposed_cpu(a.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> from(a);
    DeviceOut<float> got({3, 3});
    practise_port([&] { add_transposed_cuda(from.view(), got.view()); }, got, answer,
                  [&] { return cause(got.values(), a); });
}

TEST_CASE("add_transposed: one tile and several", "[day03][add_transposed][small]") {
    check_port(32);
    check_port(64);
}

TEST_CASE("add_transposed: partial tiles", "[day03][add_transposed][small]") {
    for (const std::int64_t N : {1, 2, 7, 31, 33, 63, 65, 97}) check_port(N);
}

TEST_CASE("add_transposed: nothing to do", "[day03][add_transposed][small]") {
    check_port(0);
}

TEST_CASE("add_transposed: coalesced accesses and no bank conflicts",
          "[day03][add_transposed][small]") {
    // (64, 64): 512 sectors to write, and 512 for each of the two readings of a.
    const Tensor<float> a = distinct<float>({64, 64});
    DeviceIn<float> from(a);
    DeviceOut<float> got({64, 64});
    const auto touched = gpu::touched([&] { add_transposed_cuda(from.view(), got.view()); });
    // 128 rows of tiles, each read twice from memory, written once, and through shared memory or
    // two on the way.
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) REQUIRE(touches(*touched, 7 * 128, 3 * 512));  // counted by the emulator only
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("add_transposed: rejects what the CPU reference rejects",
          "[day03][add_transposed][small]") {
    Tensor<float> a({4, 4}), out({4, 4}), wide({2, 8});
    REQUIRE(both_reject([&] { add_transposed_cpu(wide.view(), wide.view()); },
                        [&] { add_transposed_cuda(wide.view(), wide.view()); },
                        "but it must be square to be added to its transpose"));
    REQUIRE(both_reject([&] { add_transposed_cpu(a.view(), a.view()); },
                        [&] { add_transposed_cuda(a.view(), a.view()); }, "a and out overlap"));
}

}  // namespace
