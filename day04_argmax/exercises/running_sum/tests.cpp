// The cases that `common/learn check` runs for running_sum. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include <algorithm>
#include <cmath>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "day04_argmax/exercises/running_sum/running_sum.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

// The running sums with a planted bug, 32 elements at a time.
enum class Wrong { adds_own, one_too_far, forgets, twice };
Tensor<float> with_mistake(const Tensor<float>& x, Wrong wrong) {
    const std::int64_t M = x.shape()[0], N = x.shape()[1];
    Tensor<float> out({M, N});
    for (std::int64_t m = 0; m < M; ++m) {
        float before = 0;
        for (std::int64_t first = 0; first < N; first += 32) {
            float sum[32] = {};
            for (int lane = 0; lane < 32 && first + lane < N; ++lane)
                sum[lane] = x(m, first + lane);
            for (int left = 1; left < 32; left *= 2) {
                for (int lane = 31; lane >= 0; --lane) {
                    if (lane >= left + (wrong == Wrong::one_too_far))
                        sum[lane] += sum[lane - left];
                    else if (wrong == Wrong::adds_own)
                        sum[lane] += sum[lane];
                }
            }
            const float own = sum[31];
            for (int lane = 0; lane < 32; ++lane) {
                sum[lane] += before;
                if (first + lane < N) out(m, first + lane) = sum[lane];
            }
            before = wrong == Wrong::forgets ? own : sum[31];
            if (wrong == Wrong::twice) before += first == 0 ? 0 : sum[31] - own;
        }
    }
    return out;
}

std::string likely(const Tensor<float>& got, const Tensor<float>& x) {
    const std::int64_t M = x.shape()[0], N = x.shape()[1];
    const auto is = [&](Wrong wrong) { return bool(equal(got, with_mistake(x, wrong))); };
    if (is(Wrong::adds_own)) {
        return "Lanes 0 to d - 1 have no lane d to their left. They got their own x back and "
               "added it: only lanes >= d may add.";
    }
    if (is(Wrong::one_too_far)) {
        return "In each round one lane did not add: lane d has such a neighbour too, lane 0. The "
               "condition is lane >= d.";
    }
    if (is(Wrong::forgets)) {
        return "From element 64 on, the sum of the first elements is missing: add the earlier "
               "sum to x first, then broadcast the x of lane 31.";
    }
    bool from_right = N > 1;  // within the first 32
    for (std::int64_t m = 0; m < M && from_right; ++m) {
        float sum = 0;
        for (std::int64_t n = std::min<std::int64_t>(N, 32) - 1; n >= 0; --n) {
            sum += x(m, n);
            from_right = from_right && got(m, n) == sum;
        }
    }
    if (from_right) {
        return "Each element has the sum of itself and everything to its right: __shfl_up_sync "
               "reads from a lane to the left, __shfl_down_sync from a lane to the right.";
    }
    if (M > 1 && N > 0 && !std::isnan(got(0, 0)) && std::isnan(got(1, 0))) {
        return "Row 0 was written, but row 1, which belongs to warp 1 of block 0, was not: lane "
               "= threadIdx.x % 32, and m = blockIdx.x * kWarps + threadIdx.x / 32.";
    }
    HostOut<float> want({M, N});
    running_sum_cpu(x.view(), want.view());
    std::int64_t right = N;  // how many leading elements of each row are right
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < right; ++n) {
            if (got(m, n) != want.view()(m, n)) right = n;
        }
    }
    if (right >= 32 && right % 32 <= 1 && right < N) {
        return "Right up to element " + std::to_string(right - 1) +
               ", then wrong: check `before`, the sum of all elements before these 32. After the "
               "shuffles, add it to every lane's x, and then set it to the x of lane 31.";
    }
    const Shape shape{2, 40};
    const auto so_far = [](const Index& out, const Index& e) {
        return e[0] == out[0] && e[1] <= out[1];
    };
    return read_wrongly({"out", "mn", shape, {{"in", shape, so_far}}},
                        [=](const auto& values, float* out) {
                            running_sum_cuda({values[0], shape}, {out, shape});
                        });
}

// Integers: the sums are exact in any order.
void check_port(std::int64_t M, std::int64_t N) {
    CAPTURE(M, N);
    const Tensor<float> x = seeded_integers<float>({M, N}, 5, 1, 100);
    HostOut<float> want({M, N});
    running_sum_cpu(x.view(), want.view());
    DeviceIn<float> in(x, Lead{1});
    DeviceOut<float> got({M, N}, Lead{3});
    finish([&] { running_sum_cuda(in.view(), got.view()); }, kShuffles);
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.matches(want);
    require(same, same ? "" : likely(got.values(), x));
    REQUIRE(in.unchanged());
}

TEST_CASE("running_sum: the example of the statement", "[day04][running_sum][small]") {
    const Tensor<float> x({2, 5}, {1, 2, 3, 4, 5, 2, 0, 1, 0, 5});
    const Tensor<float> answer({2, 5}, {1, 3, 6, 10, 15, 2, 2, 3, 3, 8});
    HostOut<float> loop({2, 5});
    running_sum_cpu(x.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> in(x);
    DeviceOut<float> got({2, 5});
    finish([&] { running_sum_cuda(in.view(), got.view()); }, kShuffles);
    const Comparison same = got.matches(answer);
    require(same, same ? "" : likely(got.values(), x));
}

TEST_CASE("running_sum: rows of 32 elements", "[day04][running_sum][small]") {
    check_port(1, 32);
    check_port(9, 32);
}

TEST_CASE("running_sum: shorter, longer and empty rows", "[day04][running_sum][small]") {
    for (const std::int64_t N : {0, 1, 2, 31, 33, 64, 65, 127, 300}) check_port(5, N);
    for (const std::int64_t M : {0, 1, 7, 8, 17}) check_port(M, 40);
}

TEST_CASE("running_sum: within the rounding bound", "[day04][running_sum][small]") {
    const std::int64_t N = 500;
    const Tensor<float> x = seeded<float>({1, N}, 6, -1, 1);
    Tensor<double> want({1, N}), scale({1, N});
    double sum = 0, size = 0;
    for (std::int64_t n = 0; n < N; ++n) {
        want(0, n) = sum += x(0, n);
        scale(0, n) = size += std::abs(x(0, n));
    }
    DeviceIn<float> in(x);
    DeviceOut<float> got({1, N});
    running_sum_cuda(in.view(), got.view());
    // Each is off by at most 2^-24 of the sum of what was added.
    const auto bound = [&](const Index& at) {
        return 1.01 * static_cast<double>(at[1] + 1) * 0x1p-24 * scale(0, at[1]);
    };
    REQUIRE(got.close_to(want, bound));
}

TEST_CASE("running_sum: coalesced loads and stores", "[day04][running_sum][small]") {
    DeviceIn<float> in(seeded_integers<float>({16, 256}, 7, 1, 9));
    DeviceOut<float> got({16, 256});
    const auto touched = gpu::touched([&] { running_sum_cuda(in.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) {  // the emulator tells; a GPU does not
        INFO("Memory moved " << touched->sectors << " sectors of 32 bytes where " << 2 * 16 * 32
                             << " suffice. If it is more, the accesses are uncoalesced: lane i "
                                "must process element first + i of its row.");
        REQUIRE(touched->sectors == 2 * 16 * 32);
        INFO("The warps executed " << touched->requests << " loads and stores where " << 2 * 16 * 8
                                   << " suffice: read and write every element once.");
        REQUIRE(touched->requests == 2 * 16 * 8);
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("running_sum: the last of more than 2^32 elements", "[day04][running_sum][small]") {
    check_far_rows([](View<const float> in, View<float> out) { running_sum_cuda(in, out); });
}

TEST_CASE("running_sum: rejects what the CPU reference rejects", "[day04][running_sum][small]") {
    Tensor<float> a({4, 4}), wide({2, 8});
    REQUIRE(both_reject([&] { running_sum_cpu(a.view(), wide.view()); },
                        [&] { running_sum_cuda(a.view(), wide.view()); }, "they must be equal"));
    REQUIRE(both_reject([&] { running_sum_cpu(a.view(), a.view()); },
                        [&] { running_sum_cuda(a.view(), a.view()); }, "in and out overlap"));
}

}  // namespace
