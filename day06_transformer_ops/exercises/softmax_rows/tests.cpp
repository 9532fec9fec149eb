// The cases that `common/learn check` runs for softmax_rows. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// In double. `sum_of(m, n, largest)`: what exp(x(m, n) - largest) is divided by.
template <class Sum>
Tensor<double> softmax_of(const Tensor<float>& x, const Sum& sum_of) {
    const std::int64_t M = x.shape()[0], N = x.shape()[1];
    Tensor<double> y({M, N});
    for (std::int64_t m = 0; m < M; ++m) {
        double largest = -INFINITY;
        for (std::int64_t n = 0; n < N; ++n) largest = std::fmax(largest, double(x(m, n)));
        for (std::int64_t n = 0; n < N; ++n) {
            y(m, n) = std::exp(x(m, n) - largest) / sum_of(m, n, largest);
        }
    }
    return y;
}
// exp summed up over every step-th element of row m, from `first` on.
double sum_of_exp(const Tensor<float>& x, std::int64_t m, double largest, std::int64_t first = 0,
                  std::int64_t step = 1) {
    double sum = 0;
    for (std::int64_t n = first; n < x.shape()[1]; n += step) sum += std::exp(x(m, n) - largest);
    return sum;
}

// Each lane subtracts the largest of its own elements, and the parts of the sum are added all the
// same.
Tensor<double> with_own_maximum(const Tensor<float>& x) {
    Tensor<double> y(x.shape());
    for (std::int64_t m = 0; m < x.shape()[0]; ++m) {
        double sum = 0;
        for (std::int64_t n = 0; n < x.shape()[1]; ++n) {
            double own = -INFINITY;
            for (std::int64_t k = n % 32; k < x.shape()[1]; k += 32) {
                own = std::fmax(own, double(x(m, k)));
            }
            y(m, n) = std::exp(x(m, n) - own);
            sum += y(m, n);
        }
        for (std::int64_t n = 0; n < x.shape()[1]; ++n) y(m, n) /= sum;
    }
    return y;
}

Told cause_of(const Tensor<float>& got, const Tensor<double>& want, const Tensor<float>& x) {
    Tensor<double> first_rows = want, eight_of_256 = want;
    for (std::int64_t m = 0; m < x.shape()[0]; ++m) {
        for (std::int64_t n = 0; n < x.shape()[1] && m % 256 >= 8; ++n) eight_of_256(m, n) = NAN;
    }
    for (std::int64_t m = (x.shape()[0] + 7) / 8; m < x.shape()[0]; ++m) {
        for (std::int64_t n = 0; n < x.shape()[1]; ++n) first_rows(m, n) = NAN;
    }
    const auto lanes_beyond = static_cast<double>((x.shape()[1] + 31) / 32 * 32 - x.shape()[1]);
    return likely_mistake(
        got, want,
        {{"Lanes past the row's end added exp(0 - m) to the sum. They must take part in the "
          "shuffle but add 0.",
          softmax_of(x,
                     [&](std::int64_t m, std::int64_t, double largest) {
                         return sum_of_exp(x, m, largest) + lanes_beyond * std::exp(-largest);
                     })},
         {"Each lane divided by its own partial sum: gpu::warp_reduce(sum, gpu::Plus()) adds up "
          "those of all lanes.",
          softmax_of(x, [&](std::int64_t m, std::int64_t n,
                            double largest) { return sum_of_exp(x, m, largest, n % 32, 32); })},
         {"The launch has one block per 8 rows (kWarps). Here each block computed only one row: "
          "warp w of a block must compute row m = blockIdx.x * kWarps + w.",
          first_rows},
         {"Is the row computed from the number of threads per block? A block has 32 threads for "
          "each of its kWarps rows: m = blockIdx.x * kWarps + threadIdx.x / 32.",
          eight_of_256},
         {"Each lane subtracted its own largest element: gpu::warp_reduce(largest, "
          "gpu::Larger()) returns the row's largest in every lane.",
          with_own_maximum(x)},
         {"All 32 lanes added the same sum: if each lane reads the whole row, gpu::warp_reduce "
          "returns 32 times the sum. Lane i must process elements i, i + 32, ... only.",
          softmax_of(x, [&](std::int64_t m, std::int64_t,
                            double largest) { return 32 * sum_of_exp(x, m, largest); })},
         {"These are exp(x - m), not yet divided by their sum.",
          softmax_of(x, [](std::int64_t, std::int64_t, double) { return 1.0; })}});
}

Tensor<double> right(const Tensor<float>& x) {
    return softmax_of(
        x, [&](std::int64_t m, std::int64_t, double largest) { return sum_of_exp(x, m, largest); });
}

// `known`, or else which elements the launcher reads.
std::string confirmed_cause(const Told& known) {
    const std::int64_t M = 3, N = 40;
    const std::string text = confirmed(known, [&] {
        const Tensor<float> x = seeded<float>({M, N}, 4, -4, 4);
        DeviceIn<float> in(x);
        DeviceOut<float> got({M, N});
        softmax_rows_cuda(in.view(), got.view());
        gpu::check_pending();
        return cause_of(got.values(), right(x), x);
    });
    if (known.right || !text.empty()) return text;
    return read_wrongly({"out", "mn", {M, N}, {{"in", {M, N}, same_row}}},
                        [=](const auto& in, float* out) {
                            softmax_rows_cuda({in[0], Shape{M, N}}, {out, Shape{M, N}});
                        });
}

// x - m is rounded, and exp makes a relative error of that: `range` half units. exp itself, each of
// N additions and the division make some more.
// If no cause is known, `otherwise` is reported.
void check_port(const Tensor<float>& x, double range, const std::string& otherwise = "") {
    const std::int64_t M = x.shape()[0], N = x.shape()[1];
    CAPTURE(M, N);
    const Tensor<double> want = right(x);
    const auto bound = [&](const Index& at) {
        return (range + static_cast<double>(N) + 8) * 0x1p-24 * want(at[0], at[1]) + 1e-44;
    };
    HostOut<float> loop({M, N});
    softmax_rows_cpu(x.view(), loop.view());
    REQUIRE(loop.close_to(want, bound));
    DeviceIn<float> in(x, Lead{1});
    DeviceOut<float> got({M, N}, Lead{3});
    softmax_rows_cuda(in.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.close_to(want, bound);
    const std::string cause = same ? "" : confirmed_cause(cause_of(got.values(), want, x));
    require(same, cause.empty() ? otherwise : cause);
    REQUIRE(in.unchanged());
}

TEST_CASE("softmax_rows: the example of the statement", "[day06][softmax_rows][small]") {
    check_port(Tensor<float>({2, 3}, {0, std::log(2.0f), std::log(5.0f), 7, 7, 7}), 2);
}

TEST_CASE("softmax_rows: rows of 32 elements", "[day06][softmax_rows][small]") {
    check_port(seeded<float>({1, 32}, 1, -4, 4), 8);
    check_port(seeded<float>({9, 32}, 2, -4, 4), 8);
}

TEST_CASE("softmax_rows: shorter, longer and empty rows", "[day06][softmax_rows][small]") {
    const char* ended =
        "A lane past the row's end must contribute the identity: minus infinity for the maximum, "
        "and 0 for the sum, not exp(0 - m).";
    for (const std::int64_t N : {1, 2, 31, 33, 64, 65, 127, 300}) {
        check_port(seeded<float>({5, N}, 3, -9, -1), 8, ended);
    }
    for (const std::int64_t M : {0, 1, 7, 8, 17})
        check_port(seeded<float>({M, 40}, 4, -4, 4), 8, ended);
    check_port(Tensor<float>({3, 0}), 0);
}

TEST_CASE("softmax_rows: numbers whose exp overflows float", "[day06][softmax_rows][small]") {
    check_port(
        Tensor<float>({2, 3}, {1000, 1000, 999, 90, 100, 95}), 10,
        "exp(89) overflows float, so subtract the row's largest element before you compute exp, "
        "in the sum as well as in the result.");
}

TEST_CASE("softmax_rows: a row far below 0", "[day06][softmax_rows][small]") {
    check_port(Tensor<float>({2, 3}, {-20000, -20001, -20002, -200, -203, -200}), 4,
               "What was subtracted exceeds every element of this row, so all exponentials are 0, "
               "and 0 / 0 is NaN. Start the search for the maximum with minus infinity, not with 0 "
               "or -10000, and take no absolute values.");
}

TEST_CASE("softmax_rows: a NaN affects its own row only", "[day06][softmax_rows][small]") {
    Tensor<float> x = seeded<float>({3, 70}, 5, -4, 4);
    x(1, 69) = NAN;
    DeviceIn<float> in(x);
    DeviceOut<float> got({3, 70});
    softmax_rows_cuda(in.view(), got.view());
    const Tensor<float> y = got.values();
    REQUIRE(std::isnan(y(1, 0)));
    REQUIRE(std::isfinite(y(0, 69)));
    REQUIRE(std::isfinite(y(2, 0)));
}

TEST_CASE("softmax_rows: coalesced loads and stores", "[day06][softmax_rows][small]") {
    const std::int64_t M = 16, N = 256, row = N / 8;  // sectors of a row
    DeviceIn<float> in(seeded<float>({M, N}, 7, -4, 4));
    DeviceOut<float> got({M, N});
    const auto touched = gpu::touched([&] { softmax_rows_cuda(in.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) {  // counted by the emulator only
        INFO("Memory moved "
             << touched->sectors << " sectors of 32 bytes where " << M * row * 4
             << " suffice for three passes that read and one that "
             << "writes. If it is more, out is written twice (or read), or the accesses are "
                "uncoalesced: lane i must process elements i, i + 32, ... of its row.");
        REQUIRE(touched->sectors <= M * row * 4);
        INFO("The warps executed " << touched->requests << " memory accesses where "
                                   << M * N / 32 * 4 << " suffice.");
        REQUIRE(touched->requests <= M * N / 32 * 4);
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("softmax_rows: the last of more than 2^32 elements", "[day06][softmax_rows][small]") {
    check_far_rows([](View<const float> in, View<float> out) { softmax_rows_cuda(in, out); });
}

TEST_CASE("softmax_rows: rejects what the CPU reference rejects", "[day06][softmax_rows][small]") {
    Tensor<float> a({4, 4}), wide({2, 8});
    REQUIRE(both_reject([&] { softmax_rows_cpu(a.view(), wide.view()); },
                        [&] { softmax_rows_cuda(a.view(), wide.view()); }, "they must be equal"));
    REQUIRE(both_reject([&] { softmax_rows_cpu(a.view(), a.view()); },
                        [&] { softmax_rows_cuda(a.view(), a.view()); }, "in and out overlap"));
}

}  // namespace
