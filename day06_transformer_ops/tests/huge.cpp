// Beyond 2^31 elements, and beyond 2^31 rows, on a GPU: [huge]. The same functions also run with
// small sizes on the emulator, to test the checks themselves.
#include "common/gpu/fill.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/norm/norm.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Rows of C ones, and a few rows of noise: an in-place operation must give each row the same result
// as the CPU reference for that row alone.
template <class Port, class Loop>
void many_rows(const char* what, std::int64_t rows, std::int64_t C, const Port& port,
               const Loop& loop) {
    gpu::Buffer<float> memory(rows * C);
    gpu::fill(1, memory.view({rows, C}));
    const Tensor<float> odd = noise<float>({1, C});
    Tensor<float> ones({1, C});
    for (std::int64_t c = 0; c < C; ++c) ones(0, c) = 1;
    const std::int64_t places[] = {0, rows / 3, rows / 2, rows - 1};
    for (const std::int64_t r : places) memory.upload(odd.data(), C, r * C);
    port(memory.view({rows, C}));
    Tensor<float> of_odd({1, C}), of_ones({1, C});
    loop(odd.view(), of_odd.view());
    loop(ones.view(), of_ones.view());
    for (const std::int64_t place : places) {
        for (const std::int64_t r : {place - 1, place, place + 1}) {
            if (r < 0 || r >= rows) continue;
            CAPTURE(what, rows, C, r);
            const std::vector<float> row = memory.download(r * C, C);
            CHECK(close(Tensor<float>({1, C}, row), r == place ? of_odd : of_ones, 1e-5));
        }
    }
}

void all_operations(std::int64_t rows, std::int64_t C) {
    for (const auto path : {SoftmaxPath::thread_per_row, SoftmaxPath::warp_per_row,
                            SoftmaxPath::online, SoftmaxPath::registers, SoftmaxPath::shared}) {
        if (path == SoftmaxPath::registers && C % 4 != 0) continue;
        many_rows(
            name(path), rows, C, [&](View<float> x) { softmax_cuda(x, -1, x, {.path = path}); },
            [](View<const float> in, View<float> out) { softmax_cpu(in, -1, out); });
    }
    for (const auto path :
         {NormPath::thread_per_row, NormPath::warp_per_row, NormPath::registers}) {
        if (path == NormPath::registers && C % 4 != 0) continue;
        many_rows(
            name(path), rows, C, [&](View<float> x) { layer_norm_cuda(x, {}, x, {.path = path}); },
            [](View<const float> in, View<float> out) { layer_norm_cpu(in, {}, out); });
    }
    for (const auto path : {ActivationPath::one_element, ActivationPath::vectorized}) {
        if (path == ActivationPath::vectorized && rows * C % 4 != 0) continue;
        many_rows(
            name(path), rows, C,
            [&](View<float> x) { activate_cuda(Activation::gelu_erf, x, x, {.path = path}); },
            [](View<const float> in, View<float> out) {
                activate_cpu(Activation::gelu_erf, in, out);
            });
    }
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST_CASE("the tests beyond 2^31 also pass for small sizes", "[day06][small]") {
    all_operations(40, 68);
    all_operations(301, 1);
}

TEST_CASE("more than 2^31 elements in rows", "[day06][huge]") {
    need_device_memory(9 * kGiB);
    all_operations(31600000, 68);
}

TEST_CASE("more than 2^31 rows", "[day06][huge]") {
    need_device_memory(9 * kGiB);
    all_operations((std::int64_t{1} << 31) + 9, 1);
}

}  // namespace
