// The cases that `common/learn check` runs for split_heads. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/exercises/split_heads/split_heads.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// Which elements the launcher reads.
std::string cause(std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t D,
                  std::int64_t row) {
    const Layout in({B, T, H * D}, {T * row, row, 1});
    const auto at = [=](const Index& i) { return (i[0] * T + i[2]) * row + i[1] * D + i[3]; };
    return moved_wrongly({"out", "bhtd", {B, H, T, D}, {{"in.data", reach(in).highest + 1, at}}},
                         [=](const auto& from, float* out) {
                             split_heads_cuda({from[0], in}, {out, Shape{B, H, T, D}});
                         });
}

// `row`: elements from one token's row of `in` to the next.
void check_port(std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t D, std::int64_t row) {
    CAPTURE(B, H, T, D, row);
    const Tensor<float> in = distinct<float>({B, T, H * D});
    HostOut<float> want({B, H, T, D});
    split_heads_cpu(in.view(), want.view());
    DeviceIn<float> from(in, Layout({B, T, H * D}, {T * row, row, 1}), Lead{1});
    DeviceOut<float> got({B, H, T, D}, Lead{3});
    practise_port([&] { split_heads_cuda(from.view(), got.view()); }, got, want,
                  [=] { return cause(B, H, T, D, row); }, surplus_threads(B * H * T * D));
    REQUIRE(from.unchanged());
}

TEST_CASE("split_heads: the example of the statement", "[day03][split_heads][small]") {
    const Tensor<float> in({1, 2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    const Tensor<float> answer({1, 3, 2, 2}, {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11});
    HostOut<float> loop({1, 3, 2, 2});
    split_heads_cpu(in.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> from(in);
    DeviceOut<float> got({1, 3, 2, 2});
    practise_port([&] { split_heads_cuda(from.view(), got.view()); }, got, answer,
                  [] { return cause(1, 3, 2, 2, 6); }, surplus_threads(12));
}

TEST_CASE("split_heads: several blocks and partial blocks", "[day03][split_heads][small]") {
    check_port(2, 3, 5, 7, 21);
    check_port(3, 4, 17, 16, 64);
    check_port(1, 12, 9, 64, 768);
}

TEST_CASE("split_heads: Q, a slice of rows that hold Q, K and V", "[day03][split_heads][small]") {
    check_port(2, 3, 5, 8, 3 * 24);
    check_port(3, 2, 4, 5, 3 * 10);
}

TEST_CASE("split_heads: extents of 1, and nothing to do", "[day03][split_heads][small]") {
    check_port(1, 1, 1, 1, 1);
    check_port(1, 5, 1, 1, 5);
    check_port(0, 2, 3, 4, 8);
    check_port(2, 3, 0, 4, 12);
}

TEST_CASE("split_heads: neighbouring threads touch neighbouring elements",
          "[day03][split_heads][small]") {
    // 4,096 floats are 512 sectors, to read and to write; a warp's 32 are half a head's row.
    const Tensor<float> in = distinct<float>({2, 8, 256});
    DeviceIn<float> from(in);
    DeviceOut<float> got({2, 4, 8, 64});
    const auto touched = gpu::touched([&] { split_heads_cuda(from.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) REQUIRE(touches(*touched, 2 * 128, 1024));  // counted by the emulator only
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("split_heads: the view splits the heads, the kernel copies",
          "[day03][split_heads][small]") {
    const Tensor<float> in = distinct<float>({2, 5, 12});
    DeviceIn<float> from(in);
    DeviceOut<float> got({2, 3, 5, 4});
    split_heads_cuda(from.view(), got.view());
    const std::int64_t heads[4] = {5 * 12, 4, 12, 1};  // strides of in, seen as (B, H, T, D)
    const auto given = gpu::launched_with(heads, sizeof(heads));
    INFO(
        "The values are right, but the kernel was not given `in` as a view of shape (B, H, T, D) "
        "with strides (60, 4, 12, 1): it computes the heads itself. The exercise asks for a view "
        "that splits the heads and a kernel that only copies.");
    REQUIRE((!given || *given));
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("split_heads: the last of more than 2^32 elements", "[day03][split_heads][small]") {
    // All tokens are the same one: in has stride 0 there, and only out is long.
    const std::int64_t T = kBeyond32Bits / 64, D = 64;
    const Tensor<float> token = distinct<float>({D});
    FarEnd<float> out(T * D, distinct<float>({256}, 5000));
    DeviceIn<float> in(token);
    Tensor<float> want({32});
    for (std::int64_t i = 0; i < 32; ++i) want(i) = token(32 + i);
    INFO(needs_64_bits(T * D));
    const auto launch = [&] {
        split_heads_cuda({in.view().data, Layout({1, T, D}, {0, 0, 1})},
                         {out.data(), Shape{1, 1, T, D}});
    };
    if (gpu::run_last_block(T * D, launch)) {
        REQUIRE_NOTHROW(gpu::synchronize());
        REQUIRE(equal(out.last(32), want));
    } else {
        SUCCEED("not run: on a GPU, or with several elements per thread");
    }
}

TEST_CASE("split_heads: rejects what the CPU reference rejects", "[day03][split_heads][small]") {
    Tensor<float> in({2, 5, 12}), out({2, 3, 5, 4}), other({2, 3, 4, 5});
    REQUIRE(both_reject([&] { split_heads_cpu(in.view(), other.view()); },
                        [&] { split_heads_cuda(in.view(), other.view()); },
                        "in must have shape (2, 4, 15), but it has shape (2, 5, 12)"));
    const View<const float> backwards = flip(View<const float>(in.view()), 2);
    REQUIRE(both_reject([&] { split_heads_cpu(backwards, out.view()); },
                        [&] { split_heads_cuda(backwards, out.view()); },
                        "the last dimension must have stride 1"));
}

}  // namespace
