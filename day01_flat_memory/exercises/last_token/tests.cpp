// The cases that `common/learn check` runs for last_token. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day01_flat_memory/exercises/last_token/last_token.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

// Which elements of in the launcher reads.
std::string cause(std::int64_t B, std::int64_t T, std::int64_t C) {
    const auto at = [=](const Index& i) { return (i[0] * T + T - 1) * C + i[1]; };
    return moved_wrongly({"out", "bc", {B, C}, {{"in", B * T * C, at}}},
                         [=](const auto& in, float* out) {
                             last_token_cuda({in[0], Shape{B, T, C}}, {out, Shape{B, C}});
                         });
}

void check_port(std::int64_t B, std::int64_t T, std::int64_t C) {
    CAPTURE(B, T, C);
    const Tensor<float> in = distinct<float>({B, T, C});
    HostOut<float> want({B, C});
    last_token_cpu(in.view(), want.view());
    DeviceIn<float> din(in, Lead{1});
    DeviceOut<float> got({B, C}, Lead{1});
    practise_port([&] { last_token_cuda(din.view(), got.view()); }, got, want,
                  [=] { return cause(B, T, C); });
    REQUIRE(din.unchanged());
}

TEST_CASE("last_token: the example of the statement", "[day01][last_token][small]") {
    const Tensor<float> in({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    const Tensor<float> answer({2, 2}, {4, 5, 10, 11});
    HostOut<float> loop({2, 2});
    last_token_cpu(in.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> din(in);
    DeviceOut<float> got({2, 2});
    practise_port([&] { last_token_cuda(din.view(), got.view()); }, got, answer,
                  [] { return cause(2, 3, 2); });
}

TEST_CASE("last_token: one sequence, one token", "[day01][last_token][small]") {
    check_port(1, 1, 1);
    check_port(1, 1, 77);
}

TEST_CASE("last_token: B, T and C all different", "[day01][last_token][small]") {
    check_port(3, 5, 7);
    check_port(7, 3, 5);
    check_port(5, 7, 3);
}

TEST_CASE("last_token: more elements than a block has threads", "[day01][last_token][small]") {
    check_port(2, 3, 1025);
    check_port(1031, 2, 3);
    check_port(17, 4, 256);
}

TEST_CASE("last_token: neighbouring threads touch neighbouring elements",
          "[day01][last_token][small]") {
    // (4, 3, 256) to (4, 256): 32 warps, each with one load and one store of 4 sectors of 32 bytes.
    const Tensor<float> in = distinct<float>({4, 3, 256});
    DeviceIn<float> din(in);
    DeviceOut<float> got({4, 256});
    const auto touched = gpu::touched([&] { last_token_cuda(din.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) REQUIRE(touches(*touched, 2 * 32, 2 * 32 * 4));  // counted by the emulator only
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("last_token: nothing to do", "[day01][last_token][small]") {
    check_port(0, 5, 3);
    check_port(3, 5, 0);
}

TEST_CASE("last_token: the launch uses its stream and is checked", "[day01][last_token][small]") {
    DeviceIn<float> in(distinct<float>({2, 3, 5}));
    DeviceOut<float> out({2, 5});
    check_launcher([&](gpu::Stream stream) { last_token_cuda(in.view(), out.view(), stream); });
}

TEST_CASE("last_token: rejects what the CPU reference rejects", "[day01][last_token][small]") {
    Tensor<float> in({2, 3, 4}), none({2, 0, 4}), out({2, 4}), wide({4, 2});
    REQUIRE(both_reject([&] { last_token_cpu(none.view(), out.view()); },
                        [&] { last_token_cuda(none.view(), out.view()); },
                        "with 0 tokens there is no last token"));
    REQUIRE(both_reject([&] { last_token_cpu(in.view(), wide.view()); },
                        [&] { last_token_cuda(in.view(), wide.view()); },
                        "out has shape (4, 2), but for in of shape (2, 3, 4) it must be (2, 4)"));
}

TEST_CASE("last_token: the last of more than 2^32 positions", "[day01][last_token][small]") {
    if (!gpu::is_emulated()) {
        SUCCEED("not run on a GPU: this memory is not allocated there");
        return;
    }
    const std::int64_t T = kBeyond32Bits / 64, C = 64;
    const Tensor<float> last = distinct<float>({C});
    FarEnd<float> in(T * C, last);
    DeviceOut<float> got({1, C});
    INFO(needs_64_bits(T * C));
    last_token_cuda({in.data(), Shape{1, T, C}}, got.view());
    REQUIRE_NOTHROW(gpu::synchronize());
    REQUIRE(got.matches(reshape(last.view(), {1, C})));
}

TEST_CASE("last_token: the last of more than 2^32 channels", "[day01][last_token][small]") {
    const std::int64_t C = kBeyond32Bits;
    Tensor<float> want({32});
    for (std::int64_t i = 0; i < 32; ++i) want(i) = static_cast<float>(1024 - 32 + i) + 0.5f;
    FarEnd<float> out(C, distinct<float>({1024}, 5000));
    const float* in = far_constants(C);
    INFO(needs_64_bits(C));
    const auto launch = [&] { last_token_cuda({in, Shape{1, 1, C}}, {out.data(), Shape{1, C}}); };
    if (gpu::run_last_block(C, launch)) {
        REQUIRE_NOTHROW(gpu::synchronize());
        REQUIRE(equal(out.last(32), want));
    } else {
        SUCCEED("not run: on a GPU, or with several elements per thread");
    }
}

}  // namespace
