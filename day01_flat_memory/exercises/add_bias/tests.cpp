// The cases that `common/learn check` runs for add_bias. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "day01_flat_memory/exercises/add_bias/add_bias.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

// Which elements of in and bias the launcher reads.
std::string cause(std::int64_t M, std::int64_t N) {
    return moved_wrongly(
        {"out",
         "mn",
         {M, N},
         {{"in", M * N, [=](const Index& i) { return i[0] * N + i[1]; }},
          {"bias", N, [](const Index& i) { return i[1]; }}}},
        [=](const auto& in, float* out) {
            add_bias_cuda({in[0], Shape{M, N}}, {in[1], Shape{N}}, {out, Shape{M, N}});
        });
}

void check_port(std::int64_t M, std::int64_t N) {
    CAPTURE(M, N);
    const Tensor<float> in = distinct<float>({M, N}), bias = distinct<float>({N}, 1000);
    HostOut<float> want({M, N});
    add_bias_cpu(in.view(), bias.view(), want.view());
    DeviceIn<float> din(in), dbias(bias, Lead{1});
    DeviceOut<float> got({M, N}, Lead{1});
    practise_port([&] { add_bias_cuda(din.view(), dbias.view(), got.view()); }, got, want,
                  [=] { return cause(M, N); });
    REQUIRE(din.unchanged());
    REQUIRE(dbias.unchanged());
}

TEST_CASE("add_bias: the example of the statement", "[day01][add_bias][small]") {
    const Tensor<float> in({2, 3}, {1, 2, 3, 4, 5, 6}), bias({3}, {10, 20, 30});
    const Tensor<float> answer({2, 3}, {11, 22, 33, 14, 25, 36});
    HostOut<float> loop({2, 3});
    add_bias_cpu(in.view(), bias.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> din(in), dbias(bias);
    DeviceOut<float> got({2, 3});
    practise_port([&] { add_bias_cuda(din.view(), dbias.view(), got.view()); }, got, answer,
                  [] { return cause(2, 3); });
}

TEST_CASE("add_bias: exactly one block, 8 rows of 32 columns", "[day01][add_bias][small]") {
    check_port(8, 32);
}

TEST_CASE("add_bias: more columns than one block has", "[day01][add_bias][small]") {
    check_port(3, 33);
    check_port(1, 1000);
}

TEST_CASE("add_bias: more rows than one block has", "[day01][add_bias][small]") {
    check_port(9, 5);
    check_port(131, 2);
}

TEST_CASE("add_bias: partial blocks in both dimensions", "[day01][add_bias][small]") {
    check_port(7, 31);
    check_port(17, 67);
    check_port(1, 1);
}

TEST_CASE("add_bias: the tallest matrix", "[day01][add_bias][small]") {
    check_port(kMostRows, 1);
}

TEST_CASE("add_bias: neighbouring threads touch neighbouring elements",
          "[day01][add_bias][small]") {
    // (16, 64): 32 warps of 32 columns. Each asks for in, bias and out: 4 sectors of 32 bytes each.
    const Tensor<float> in = distinct<float>({16, 64}), bias = distinct<float>({64}, 1000);
    DeviceIn<float> din(in), dbias(bias);
    DeviceOut<float> got({16, 64});
    const auto touched = gpu::touched([&] { add_bias_cuda(din.view(), dbias.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) REQUIRE(touches(*touched, 3 * 32, 3 * 32 * 4));  // counted by the emulator only
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("add_bias: nothing to do", "[day01][add_bias][small]") {
    check_port(0, 5);
    check_port(5, 0);
}

TEST_CASE("add_bias: in place", "[day01][add_bias][small]") {
    const Tensor<float> in = distinct<float>({9, 33}), bias = distinct<float>({33}, 1000);
    HostOut<float> want({9, 33});
    add_bias_cpu(in.view(), bias.view(), want.view());
    auto both = DeviceOut<float>::holding(in);
    DeviceIn<float> dbias(bias);
    add_bias_cuda(both.view(), dbias.view(), both.view());
    REQUIRE(both.matches(want));
}

TEST_CASE("add_bias: rejects what the CPU reference rejects", "[day01][add_bias][small]") {
    Tensor<float> in({2, 3}), out({2, 3}), bias({2});
    REQUIRE(both_reject([&] { add_bias_cpu(in.view(), bias.view(), out.view()); },
                        [&] { add_bias_cuda(in.view(), bias.view(), out.view()); },
                        "bias has 2 elements, but a row of out has 3"));
}

TEST_CASE("add_bias: the last of more than 2^32 elements", "[day01][add_bias][small]") {
    const std::int64_t M = kMostRows, N = 8224, n = M * N;  // in place, one block of 8 x 32
    const Tensor<float> last = distinct<float>({8 * N}), bias = distinct<float>({N}, 1000);
    Tensor<float> want({32});
    for (std::int64_t i = 0; i < 32; ++i) want(i) = last(7 * N + N - 32 + i) + bias(N - 32 + i);
    FarEnd<float> both(n, last);
    DeviceIn<float> dbias(bias);
    const View<float> x(both.data(), Shape{M, N});
    INFO(needs_64_bits(n));
    if (gpu::run_last_block(n, [&] { add_bias_cuda(x, dbias.view(), x); })) {
        REQUIRE_NOTHROW(gpu::synchronize());
        REQUIRE(equal(both.last(32), want));
    } else {
        SUCCEED("not run: on a GPU, or with several elements per thread");
    }
}

}  // namespace
