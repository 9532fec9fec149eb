// Buffers, launches and timers, on whichever device the program is linked with: a GPU or the
// emulator. Calls that must fail throw with a message, and leave the device usable.
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/bench/gpu_limits.hpp"
#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/error.hpp"
#include "common/gpu/tests/kernels.hpp"
#include "common/gpu/timer.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;
using gpu::Buffer;

namespace {

// The message of the gpu::Error that `call` throws, "" if it throws nothing.
template <class Call>
std::string failure(const Call& call) {
    try {
        call();
    } catch (const gpu::Error& error) {
        CHECK(error.code() != 0);
        return error.what();
    }
    return "";
}

// Checks that the device still works. A GPU whose context is broken fails every call.
void check_device_works() {
    DeviceOut<float> out({1000});
    gpu::tests::fill(out.view(), 3.0f);
    const Tensor<float> threes({1000}, std::vector<float>(1000, 3.0f));
    CHECK(out.matches(threes));
}

}  // namespace

TEST_CASE("a device is available and reports its properties", "[gpu][small]") {
    CHECK(gpu::why_unavailable() == "");
    const gpu::Device device = gpu::device();
    CHECK_FALSE(device.name.empty());
    CHECK(device.major >= 8);
    CHECK(device.multiprocessors >= 1);
    CHECK(device.threads_per_block == 1024);
    CHECK(device.warp_size == 32);
    CHECK(device.shared_bytes == 48 * 1024);
    CHECK(device.memory_bytes > 0);
    CHECK(device.runtime_version >= 12000);
    CHECK_NOTHROW(gpu::synchronize());
    check_device_works();
}

TEST_CASE("limits and clock are measured on a GPU and rejected on the emulator", "[gpu][small]") {
    if (gpu::is_emulated()) {
        CHECK_THROWS_AS((void)bench::measure_gpu_limits(), std::logic_error);
        CHECK_THROWS_AS((void)bench::measure_gpu_clock(), std::logic_error);
        return;
    }
    const bench::Limits limits = bench::measure_gpu_limits();
    for (const double rate : {limits.copy, limits.read, limits.write, limits.fma}) {
        CHECK(rate > 1e9);
    }
    const double hz = bench::measure_gpu_clock();
    CHECK(hz > 1e8);
    CHECK(hz < 5e9);
}

TEST_CASE("a buffer returns what was uploaded, whole and in parts", "[gpu][small]") {
    const Tensor<float> values = distinct<float>({10});
    Buffer<float> buffer(values);
    REQUIRE(buffer.size() == 10);
    CHECK(buffer.download() == std::vector<float>(values.data(), values.data() + 10));
    CHECK(buffer.download(3, 2) == std::vector<float>{4, 5});
    CHECK(buffer.download(9, 1) == std::vector<float>{10});
    CHECK(buffer.download(10, 0).empty());
    const float seven[] = {70, 80};
    buffer.upload(seven, 2, 6);
    CHECK(buffer.download(5, 4) == std::vector<float>{6, 70, 80, 9});
    buffer.fill_bytes(0xFF);
    for (const float x : buffer.download()) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &x, sizeof bits);
        CHECK(bits == 0xFFFFFFFFu);
    }
}

TEST_CASE("a buffer rejects out-of-range copies and stays unchanged", "[gpu][small]") {
    const Tensor<float> values = distinct<float>({10});
    Buffer<float> buffer(values);
    const float x[11] = {};
    CHECK(rejection([&] { (void)buffer.download(8, 3); }) ==
          "elements [8, 8 + 3) of a buffer of 10");
    CHECK(rejection([&] { (void)buffer.download(11, 0); }) ==
          "elements [11, 11 + 0) of a buffer of 10");
    CHECK(rejection([&] { (void)buffer.download(-1, 1); }) ==
          "elements [-1, -1 + 1) of a buffer of 10");
    CHECK(rejection([&] { (void)buffer.download(1, -1); }) ==
          "elements [1, 1 + -1) of a buffer of 10");
    CHECK(rejection([&] { (void)buffer.download(1, INT64_MAX); }) != "");
    CHECK(rejection([&] { buffer.upload(x, 11); }) == "elements [0, 0 + 11) of a buffer of 10");
    CHECK(rejection([&] { buffer.upload(x, 1, 10); }) == "elements [10, 10 + 1) of a buffer of 10");
    CHECK(buffer.download() == std::vector<float>(values.data(), values.data() + 10));

    CHECK(rejection([] { Buffer<float> negative(-1); }) ==
          "a device buffer of -1 elements of 4 bytes was asked for");
    CHECK(rejection([] { Buffer<double> large(INT64_MAX / 4); }) ==
          "a device buffer of 2305843009213693951 elements of 8 bytes was asked for");
}

TEST_CASE("a view may not reach past the end of its buffer", "[gpu][small]") {
    Buffer<float> buffer(10);
    const Layout pitched({2, 3}, {7, 1});  // offsets 0 to 9
    CHECK(buffer.view(pitched).data == buffer.data());
    CHECK(
        rejection([&] { (void)buffer.view(pitched, 1); }) ==
        "shape (2, 3), strides (7, 1) from element 1 on reaches offsets 0 to 9, but the buffer has "
        "10 elements");
    const Layout flipped({4}, {-3});  // offsets -9 to 0
    CHECK(buffer.view(flipped, 9).data == buffer.data() + 9);
    CHECK(contains(rejection([&] { (void)buffer.view(flipped, 8); }), "reaches offsets -9 to 0"));
    CHECK(rejection([&] { (void)buffer.view(flipped, 10); }) != "");
    CHECK(rejection([&] { (void)buffer.view({11}); }) != "");
    CHECK(buffer.view({10}).size() == 10);
    CHECK(buffer.view({0, 99}).size() == 0);
    CHECK(std::as_const(buffer).view({2, 5}).layout.strides == Strides{5, 1});
    CHECK(std::is_same_v<decltype(std::as_const(buffer).view(Shape{2, 5})), View<const float>>);
}

TEST_CASE("a buffer is movable, not copyable", "[gpu][small]") {
    CHECK_FALSE(std::is_copy_constructible_v<Buffer<float>>);
    CHECK_FALSE(std::is_copy_assignable_v<Buffer<float>>);
    Buffer<float> a(distinct<float>({3}));
    const float* memory = a.data();
    Buffer<float> b(std::move(a));
    CHECK(b.data() == memory);
    CHECK(b.download() == std::vector<float>{1, 2, 3});
    CHECK(a.size() == 0);  // NOLINT: the moved-from buffer is empty, which this tests
    CHECK(a.data() == nullptr);
    Buffer<float> c(5);
    c = std::move(b);
    CHECK(c.data() == memory);
    CHECK(c.size() == 3);
    CHECK(c.download() == std::vector<float>{1, 2, 3});
}

TEST_CASE("an empty buffer is a null pointer and accepts empty copies", "[gpu][small]") {
    Buffer<float> none(0);
    CHECK(none.data() == nullptr);
    CHECK(none.download().empty());
    CHECK_NOTHROW(none.upload(nullptr, 0));
    CHECK_NOTHROW(none.fill_bytes(0xFF));
    CHECK(none.view({0}).size() == 0);
    CHECK(rejection([&] { (void)none.view({1}); }) != "");
    CHECK(Buffer<float>(Tensor<float>({0, 3})).size() == 0);
}

TEST_CASE("a failed allocation reports how much memory is free", "[gpu][small]") {
    const std::string text = failure([] { Buffer<float> huge(std::int64_t{1} << 50); });
    CHECK(contains(text, "4503599627370496 bytes of device memory were asked for, but only"));
    CHECK(contains(text, "are free"));
    check_device_works();
}

TEST_CASE("a block of 2,048 threads is rejected with kernel, grid, block and advice",
          "[gpu][small]") {
    const std::string text = failure([] { gpu::tests::launch_nothing(3, 2048); });
    CHECK(contains(text, "common/gpu/tests/kernels.cu"));
    CHECK(contains(text,
                   "the launch of nothing_kernel with grid (3, 1, 1) and block (2048, 1, 1) "
                   "failed with cudaErrorInvalid"));
    CHECK(contains(text, "This device allows 1024 threads per block"));
    if (gpu::is_emulated()) CHECK(contains(text, "2048"));
    check_device_works();
}

TEST_CASE("1,024 threads per block are accepted, 1,025 are rejected", "[gpu][small]") {
    CHECK(failure([] { gpu::tests::launch_nothing(1, 1024); }) == "");
    CHECK(failure([] { gpu::tests::launch_nothing(1, 1025); }) != "");
    check_device_works();
}

TEST_CASE("an empty grid, an empty block and too much shared memory are rejected", "[gpu][small]") {
    CHECK(contains(failure([] { gpu::tests::launch_nothing(0, 256); }), "grid (0, 1, 1)"));
    CHECK(contains(failure([] { gpu::tests::launch_nothing(0, 256); }),
                   "a grid of at least one block"));
    CHECK(contains(failure([] { gpu::tests::launch_nothing(1, 0); }), "block (0, 1, 1)"));
    CHECK(contains(failure([] { gpu::tests::launch_with_shared(48 * 1024 + 1, 0); }),
                   "49152 bytes of shared memory per block"));
    CHECK(failure([] { gpu::tests::launch_with_shared(48 * 1024, 48 * 1024); }) == "");
    check_device_works();
}

TEST_CASE("on the emulator a launch must be what check_launch() is told", "[gpu][small]") {
    const auto differs = [](std::int64_t bytes, std::int64_t reported) {
        gpu::tests::launch_with_shared(bytes, reported);
        gpu::tests::launch_nothing(7, 8);  // the first one counts
        return gpu::misreported_launch();
    };
    CHECK(differs(0, 0) == "");
    CHECK(differs(1, 1) == "");
    for (const auto& [bytes, reported] : {std::pair{1, 0}, std::pair{0, 1}}) {
        const std::string found = differs(bytes, reported);
        if (!gpu::is_emulated()) continue;
        const std::string block = "grid (1, 1, 1) and block (32, 1, 1)",
                          shared = block + " and 1 bytes of dynamic shared memory";
        CHECK(contains(found, "the launch of nothing_kernel with " + (reported ? shared : block) +
                                  " had " + (bytes ? shared : block)));
    }
    CHECK(gpu::misreported_launch() == "");
}

TEST_CASE("fails at its end: a launch that check_launch() reports wrongly", "[.misreported]") {
    gpu::tests::launch_with_shared(1, 0);
    SUCCEED();
}

TEST_CASE("a failed call is reported with its file and the CUDA error", "[gpu][small]") {
    const std::string text = failure([] { gpu::tests::select_device(12345); });
    CHECK(contains(text, "common/gpu/tests/kernels.cu:"));
    CHECK(contains(text, "cudaSetDevice(device) failed with cudaErrorInvalidDevice: "));
    check_device_works();
}

TEST_CASE("bf16 and f16 convert in a kernel as they do on the host", "[gpu][small]") {
    Tensor<f16> halves({65536});
    Tensor<bf16> bfloats({65536});
    for (std::int64_t p = 0; p < 65536; ++p) {
        halves(p) = f16::from_bits(static_cast<std::uint16_t>(p));
        bfloats(p) = bf16::from_bits(static_cast<std::uint16_t>(p));
    }
    auto device_halves = DeviceOut<f16>::holding(halves);
    auto device_bfloats = DeviceOut<bf16>::holding(bfloats);
    gpu::tests::round_trip(device_halves.view(), device_bfloats.view());
    CHECK(device_halves.matches(halves));
    CHECK(device_bfloats.matches(bfloats));

    // Floats of all exponents: bits spread evenly over 32.
    const std::int64_t n = 50000;
    Tensor<float> floats({n});
    Tensor<f16> want_halves({n});
    Tensor<bf16> want_bfloats({n});
    for (std::int64_t k = 0; k < n; ++k) {
        const auto bits = static_cast<std::uint32_t>(k * 85899 % 0xFFFF0000);  // no NaN of all ones
        std::memcpy(&floats(k), &bits, sizeof bits);
        want_halves(k) = f16(floats(k));
        want_bfloats(k) = bf16(floats(k));
    }
    DeviceIn<float> in(floats);
    DeviceOut<f16> got_halves({n});
    DeviceOut<bf16> got_bfloats({n});
    gpu::tests::round(in.view(), got_halves.view(), got_bfloats.view());
    CHECK(got_halves.matches(want_halves));
    CHECK(got_bfloats.matches(want_bfloats));
    CHECK(in.unchanged());
}

TEST_CASE("fast_exp2 and fast_reciprocal are accurate to two ulps", "[gpu][small]") {
    Tensor<float> x({2, 4096});
    for (std::int64_t i = 0; i < 4096; ++i) {
        x(0, i) = -130 + static_cast<float>(i) * 0.0637f;  // 2^x: all exponents
        x(1, i) =
            std::ldexp(1 + static_cast<float>(i * 37 % 101) / 101, static_cast<int>(i % 254) - 126);
    }
    const Buffer<float> in(x);
    Buffer<float> powers(x.size()), reciprocals(x.size());
    gpu::tests::fast_functions(in.view(x.shape()), powers.view(x.shape()),
                               reciprocals.view(x.shape()));
    const std::vector<float> power = powers.download(), reciprocal = reciprocals.download();
    const auto near = [](float got, double want) {  // 2^-126 may become 0 or not
        return std::fabs(static_cast<double>(got) - want) <= std::fabs(want) * 0x1p-22 ||
               (std::fabs(want) <= 0x1.00001p-126 && got == 0);
    };
    for (std::size_t i = 0; i < power.size(); ++i) {
        const auto at = static_cast<double>(x.data()[i]);
        CAPTURE(at, power[i], reciprocal[i]);
        if (at < 127.9) REQUIRE(near(power[i], std::exp2(at)));
        REQUIRE(near(reciprocal[i], 1 / at));
    }
    CHECK(power[0] == 0);
}

TEST_CASE("asynchronous copies of 4, 8 and 16 bytes arrive by the wait, and pad with zeros",
          "[gpu][small]") {
    const int bytes = GENERATE(4, 8, 16), n = GENERATE(256, 255, 130, 3, 0);
    INFO(bytes << " bytes, " << n << " floats");
    Tensor<float> floats({256}), want({256});
    for (std::int64_t k = 0; k < 256; ++k) floats(k) = static_cast<float>(k + 1);
    for (std::int64_t k = 0; k < 256; ++k) want(255 - k) = k < n ? floats(k) : 0.0f;
    DeviceIn<float> in(floats);
    DeviceOut<float> got({256});
    gpu::tests::reverse_async(bytes, n, in.view(), got.view());
    CHECK(got.matches(want));
    CHECK(in.unchanged());
}

TEST_CASE("an asynchronous copy of 0 valid bytes must be aligned too", "[gpu][small]") {
    if (!gpu::is_emulated()) {  // cudaErrorMisalignedAddress, which the context does not survive
        SUCCEED("only the emulator survives that");
        return;
    }
    const DeviceIn<float> in(Tensor<float>({256}));
    DeviceOut<float> out({256});
    const View<const float> off(in.view().data + 1, Shape{255});
    CHECK(contains(failure([&] { gpu::tests::reverse_async(16, 0, off, out.view()); }),
                   "starts an asynchronous copy of 16 bytes, but its source is 4 bytes past a "
                   "multiple of that"));
}

TEST_CASE("a timer measures the time between start and stop", "[gpu][small]") {
    Buffer<float> out(1 << 16);
    gpu::Timer timer;
    timer.start();
    gpu::tests::fill(out.view({1 << 16}), 1.0f);
    timer.stop();
    const double seconds = timer.seconds();
    CHECK(seconds >= 0);
    CHECK(seconds < 60);
    if (!gpu::is_emulated()) CHECK(seconds > 0);
    timer.start();  // again with the same timer
    timer.stop();
    CHECK(timer.seconds() >= 0);
}

TEST_CASE("reading a timer that never started fails and breaks nothing", "[gpu][small]") {
    gpu::Timer timer;
    CHECK(contains(failure([&] { (void)timer.seconds(); }), "cudaEventElapsedTime"));
    check_device_works();
}
