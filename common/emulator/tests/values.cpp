// The emulator's own tests: computed values. mistakes.cpp tests what it reports.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/facts.hpp"
#include "common/emulator/tests/values.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

// The last error of the launches so far, as text.
std::string trouble() {
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return "";
    const auto report = last_report();
    return report ? report->text : cudaGetErrorString(error);
}

std::vector<float> numbers(std::size_t n, int period) {
    std::vector<float> v(n);
    for (std::size_t i = 0; i < n; ++i)
        v[i] = static_cast<float>(i * 7 % static_cast<std::size_t>(period));
    return v;
}

// Every value test runs in three orders, since CUDA guarantees none.
void in_each_order(void (*test)()) {
    for (const Order order : {Order::forward, Order::reversed, Order::shuffled}) {
        INFO("order " << static_cast<int>(order));
        set_order(order, 12345);
        test();
        set_order(Order::forward);
    }
}

// Rounds each exact value in the four directions: to nearest, to zero, down, up.
template <class T>
std::vector<double> rounded_in_each_mode(const std::vector<long double>& exact) {
    std::vector<double> all;
    for (const long double x : exact) {
        const T nearest = static_cast<T>(x), infinity = std::numeric_limits<T>::infinity();
        const T down = nearest > x ? std::nextafter(nearest, -infinity) : nearest;
        const T up = nearest < x ? std::nextafter(nearest, infinity) : nearest;
        for (const T one : {nearest, x > 0 ? down : up, down, up}) all.push_back(one);
    }
    return all;
}

}  // namespace

TEST_CASE("saxpy computes a x + y with threads that return early") {
    in_each_order([] {
        const auto x = numbers(1000, 23), y = numbers(1000, 31);
        const Device<float> dx(x), dy(y), out(1000);
        saxpy(3.0f, dx.data(), dy.data(), 1000, out.data());
        REQUIRE(trouble() == "");
        const auto got = out.host();
        for (std::size_t i = 0; i < 1000; ++i) REQUIRE(got[i] == 3.0f * x[i] + y[i]);
    });
}

TEST_CASE("a tiled matmul equals three loops, also with partial tiles") {
    in_each_order([] {
        const int m = 37, n = 18, k = 50;  // small integers: every sum is exact
        const auto a = numbers(m * k, 11), b = numbers(k * n, 13);
        const Device<float> da(a), db(b), c(m * n);
        matmul_16(da.data(), db.data(), m, n, k, c.data());
        REQUIRE(trouble() == "");
        const auto got = c.host();
        for (int row = 0; row < m; ++row) {
            for (int col = 0; col < n; ++col) {
                float sum = 0.0f;
                for (int i = 0; i < k; ++i) {
                    sum += a[static_cast<std::size_t>(row * k + i)] *
                           b[static_cast<std::size_t>(i * n + col)];
                }
                REQUIRE(got[static_cast<std::size_t>(row * n + col)] == sum);
            }
        }
    });
}

TEST_CASE("warps and blocks compute sums") {
    in_each_order([] {
        const int n = 1000;
        const auto in = numbers(n, 97);
        const Device<float> d(in), by_warp(32), by_block(3);
        warp_sums(d.data(), n, by_warp.data());
        block_sums(d.data(), n, 3, by_block.data());
        REQUIRE(trouble() == "");
        const auto warps = by_warp.host(), blocks = by_block.host();
        for (std::size_t w = 0; w < 32; ++w) {
            const std::size_t end = std::min<std::size_t>(w * 32 + 32, n);
            REQUIRE(warps[w] == std::accumulate(in.begin() + static_cast<long>(w) * 32,
                                                in.begin() + static_cast<long>(end), 0.0f));
        }
        const float all = std::accumulate(in.begin(), in.end(), 0.0f);
        REQUIRE(blocks[0] + blocks[1] + blocks[2] == all);
    });
}

TEST_CASE("a block scans 1000 values") {
    in_each_order([] {
        std::vector<int> in(1000), expected(1000);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 37 % 101) - 50;
        std::partial_sum(in.begin(), in.end(), expected.begin());
        const Device<int> d(in), out(1000);
        block_scan(d.data(), 1000, out.data());
        REQUIRE(trouble() == "");
        REQUIRE(out.host() == expected);
    });
}

TEST_CASE("a histogram counts every byte with atomics in shared and global memory") {
    in_each_order([] {
        std::vector<unsigned char> in(5000);
        std::vector<int> expected(256);
        for (std::size_t i = 0; i < in.size(); ++i) {
            in[i] = static_cast<unsigned char>(i * i % 251);
            ++expected[in[i]];
        }
        const Device<unsigned char> d(in);
        const Device<int> counts(std::vector<int>(256, 0));
        histogram(d.data(), 5000, counts.data());
        REQUIRE(trouble() == "");
        REQUIRE(counts.host() == expected);
    });
}

TEST_CASE("3-D blocks and grids visit every point exactly once") {
    in_each_order([] {
        const Device<int> out(5 * 7 * 3);
        coordinates(5, 7, 3, out.data());
        REQUIRE(trouble() == "");
        const auto got = out.host();
        for (int z = 0; z < 3; ++z) {
            for (int y = 0; y < 7; ++y) {
                for (int x = 0; x < 5; ++x) {
                    const auto at = static_cast<std::size_t>((z * 7 + y) * 5 + x);
                    REQUIRE(got[at] == x + 100 * y + 10000 * z);
                }
            }
        }
    });
}

TEST_CASE("dynamic shared memory can have a template's element type") {
    in_each_order([] {
        std::vector<double> in(100);
        std::iota(in.begin(), in.end(), 0.5);
        const Device<double> d(in), out(100);
        reverse_dynamic(d.data(), 100, out.data());
        REQUIRE(trouble() == "");
        REQUIRE(out.host() == std::vector<double>(in.rbegin(), in.rend()));
    });
}

TEST_CASE("votes, matches, reductions and shuffles behave as in CUDA's manual") {
    in_each_order([] {
        const Device<unsigned> out(32 * 12);
        votes(out.data());
        REQUIRE(trouble() == "");
        const auto got = out.host();
        for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned* mine = got.data() + lane * 12;
            INFO("lane " << lane);
            CHECK(mine[0] == 0x49249249u);  // bits 0, 3, 6, ... 30
            CHECK(mine[1] == 1);
            CHECK(mine[2] == 0);  // lane 31 is false
            CHECK(mine[3] == 0xffu << lane / 8 * 8);
            CHECK(mine[4] == 0);    // 0xffffffff + 1
            CHECK(mine[5] == 496);  // 0 + 1 + ... + 31
            CHECK(static_cast<int>(mine[6]) == -31);
            CHECK(mine[7] == (lane == 0 ? 0 : lane - 1));
            CHECK(mine[8] == (lane % 8 < 5 ? lane + 3 : lane));
            CHECK(mine[9] == (lane < 16 ? 5 : 21));
            CHECK(mine[10] == 0xffffffffu);
            CHECK(mine[11] == (lane < 16 ? 15 : 31));
        }
    });
}

TEST_CASE("a barrier counts predicates, starting from 0 each time") {
    in_each_order([] {
        const Device<int> out(2 * 64 * 12);
        barrier_votes(out.data());
        REQUIRE(trouble() == "");
        const auto got = out.host();
        const int wanted[12] = {64, 1, 1, 0, 0, 0, 1, 1, 0, 63, 1, 0};
        for (std::size_t i = 0; i < got.size(); ++i) {
            INFO("thread " << i / 12 << ", vote " << i % 12);
            REQUIRE(got[i] == wanted[i % 12]);
        }
    });
}

TEST_CASE("atomics count, compare and wrap as on a GPU") {
    in_each_order([] {
        std::vector<unsigned> start(16, 0);
        start[1] = 1000;
        start[2] = 0xffffffffu;
        start[5] = 0xffffffffu;
        const Device<unsigned> out(start);
        atomics(40, out.data());
        REQUIRE(trouble() == "");
        const auto got = out.host();
        CHECK(got[0] == 780);  // 0 + 1 + ... + 39
        CHECK(got[1] == 960);
        CHECK(got[2] == 5);
        CHECK(got[3] == 39);
        CHECK(got[4] == 0xffffffffu);
        CHECK(got[5] == 0);
        CHECK(got[6] == 0);  // 0 ^ 1 ^ ... ^ 39: four numbers starting with 4 k cancel
        CHECK(got[7] == 0);  // cycles through 0 ... 9: 40 steps
        CHECK(got[8] == 0);  // 0, 9, 8, ... 0: also 10 values
        float halves;
        std::memcpy(&halves, &got[9], sizeof(halves));
        CHECK(halves == 20.0f);
        CHECK(got[10] == 39);
        CHECK(got[12] == 0);  // 40 times 2^31 is 20 times 2^32
        CHECK(got[13] == 20);
        double quarters;
        std::memcpy(&quarters, &got[14], sizeof(quarters));
        CHECK(quarters == 10.0);
    });
}

TEST_CASE("constants, device variables and constant tables can be read") {
    const Device<int> out(6);
    variables(out.data());
    REQUIRE(trouble() == "");
    REQUIRE(out.host() == std::vector<int>{2, 4, 9, 16, 11, 5});
}

TEST_CASE("16-byte loads and CUDA's own functions work") {
    std::vector<float> in(4 * 3);
    for (std::size_t i = 0; i < 3; ++i) {
        in[4 * i] = static_cast<float>(i);
        in[4 * i + 1] = 1.0f;
        in[4 * i + 2] = 4.0f;  // 1 / sqrt(4) = 0.5
        in[4 * i + 3] = 0.0f;
    }
    const Device<float> d(in), out(3);
    vector_sum(d.data(), 3, out.data());
    REQUIRE(trouble() == "");
    // max(x, 1) + 0.5 + 0 + min(i, 3) + 3 + 31
    REQUIRE(out.host() == std::vector<float>{35.5f, 36.5f, 38.5f});
}

TEST_CASE("inline PTX moves only the 8 or 16 bits that it names, and extends their sign") {
    const std::vector<unsigned char> in{0xfe, 0xff, 7, 0, 9, 8, 200};
    const Device<unsigned char> bytes(in);
    const Device<unsigned> out(8);
    narrow(bytes.data(), 6, out.data());  // the last one
    REQUIRE(trouble() == "");
    CHECK(out.host() == std::vector<unsigned>{200, ~1u, ~0u, 0xfe, 0xff, 7, 0, 68});
    CHECK(bytes.host() == std::vector<unsigned char>{0xfe, 0xff, 1, 2, 9, 0x78, 200});
    narrow(bytes.data(), 7, out.data());  // past it
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(fact_of<OutOfBounds>(last_report()).bytes == 1);
    narrow(bytes.data() + 1, 0, out.data());  // misaligned for 16 bits
    CHECK(cudaGetLastError() == cudaErrorMisalignedAddress);
    CHECK(last_report()->kind == Kind::misaligned);
    CHECK(last_report()->file == "common/emulator/tests/values.cu");
    clear_report();
}

TEST_CASE("a matrix product of a warp takes its fragments from the lanes of the PTX manual") {
    using enum ptx::Factor;
    for (const auto& [type, k] :
         {std::pair{f16, 8}, {f16, 16}, {bf16, 8}, {bf16, 16}, {tf32, 4}, {tf32, 8}}) {
        CAPTURE(static_cast<int>(type), k);
        std::vector<float> a, b, c, sums;
        for (int i = 0; i < 16 * k; ++i) a.push_back(static_cast<float>(i * 7 % 17 - 8));
        for (int i = 0; i < 8 * k; ++i) b.push_back(static_cast<float>(i * 5 % 13 - 6));
        for (int i = 0; i < 16 * 8; ++i) c.push_back(static_cast<float>(i));
        for (int i = 0; i < 16 * 8; ++i) {
            sums.push_back(c[i]);
            for (int j = 0; j < k; ++j) sums[i] += a[i / 8 * k + j] * b[j * 8 + i % 8];
        }
        if (type == tf32) a[1] -= 0x1p-12f;  // beyond its 10 bits
        const Device<float> x(a), y(b), out(c);
        mma(type, k, x.data(), y.data(), out.data());
        REQUIRE(trouble() == "");
        CHECK(out.host() == sums);
    }
}

TEST_CASE("__activemask names the lanes in the branch") {
    const Device<int> out(32);
    divergent_groups(out.data());
    REQUIRE(trouble() == "");
    const auto got = out.host();
    for (std::size_t lane = 0; lane < 32; ++lane) REQUIRE(got[lane] == (lane < 10 ? 10 : 22));
}

TEST_CASE("launches that a GPU rejects are rejected with its error") {
    clear_report();
    launch_empty(1, 1024);
    CHECK(cudaGetLastError() == cudaSuccess);
    launch_empty(1, 1025);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(last_report()->kind == Kind::invalid_launch);
    CHECK(last_report()->kernel == "empty_kernel");
    launch_empty(0, 32);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    launch_empty(32, 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);

    dynamic_bytes(48 * 1024, false);
    CHECK(cudaGetLastError() == cudaSuccess);
    dynamic_bytes(48 * 1024 + 1, false);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    dynamic_bytes(163 * 1024, true);
    CHECK(cudaGetLastError() == cudaSuccess);
    dynamic_bytes(163 * 1024 + 1, true);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    clear_report();
}

TEST_CASE("the basic runtime calls work: memory, copies, events, errors") {
    std::size_t free_before = 0, free_after = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&free_before, &total) == cudaSuccess);
    {
        const Device<int> a(std::vector<int>{1, 2, 3, 4, 5, 6}), b(6);
        CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 256 == 0);
        REQUIRE(cudaMemGetInfo(&free_after, &total) == cudaSuccess);
        CHECK(free_before - free_after == 48);
        // Two rows of two out of rows of three.
        REQUIRE(cudaMemset(b.data(), 0, 24) == cudaSuccess);
        REQUIRE(cudaMemcpy2D(b.data(), 12, a.data(), 12, 8, 2, cudaMemcpyDeviceToDevice) ==
                cudaSuccess);
        CHECK(b.host() == std::vector<int>{1, 2, 0, 4, 5, 0});
    }
    void* all = nullptr;
    CHECK(cudaMalloc(&all, total + 1) == cudaErrorMemoryAllocation);
    CHECK(all == nullptr);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);

    cudaEvent_t start, stop;
    REQUIRE(cudaEventCreate(&start) == cudaSuccess);
    REQUIRE(cudaEventCreate(&stop) == cudaSuccess);
    float ms = -1.0f;
    CHECK(cudaEventElapsedTime(&ms, start, stop) == cudaErrorInvalidResourceHandle);
    cudaEventRecord(start);
    cudaEventRecord(stop);
    CHECK(cudaEventElapsedTime(&ms, start, stop) == cudaSuccess);
    CHECK(ms >= 0.0f);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaGetLastError();

    cudaDeviceProp properties;
    REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    CHECK(std::string(properties.name) == "sixdays CPU emulator");
    CHECK(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
    CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) ==
          "an illegal memory access was encountered");
}

TEST_CASE("arithmetic and conversions round in the direction that their names end with") {
    const auto exact = [](long double a, long double b, long double c) {
        return std::vector<long double>{a + b, a - b, a * b, a / b, 1 / b, std::sqrt(c), a * b + c};
    };
    for (const double sign : {1.0, -1.0}) {
        const double a = sign / 3, b = -3.7, c = 0.7;
        const auto x = static_cast<float>(a), y = static_cast<float>(b), z = static_cast<float>(c);
        const Device<float> floats(28);
        rounded_floats(x, y, z, floats.data());
        const std::vector<float> got = floats.host();
        CHECK(std::vector<double>(got.begin(), got.end()) ==
              rounded_in_each_mode<float>(exact(x, y, z)));
        const Device<double> doubles(28);
        rounded_doubles(a, b, c, doubles.data());
        CHECK(doubles.host() == rounded_in_each_mode<double>(exact(a, b, c)));
    }
    const Device<double> converted(28);
    const long long whole = -1234567890123456789;
    const long double part = whole % 2000000000, all = whole;
    rounded_conversions(whole, 0.1, converted.data());
    std::vector<double> want = rounded_in_each_mode<float>({all, -all, part, -part, 0.1});
    const std::vector<double> wide = rounded_in_each_mode<double>({all, -all});
    want.insert(want.end(), wide.begin(), wide.end());
    CHECK(converted.host() == want);
    CHECK(trouble().empty());
}
