// The cases that `common/learn check` runs for kv_append. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "day02_strides/exercises/kv_append/kv_append.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

// (B, n, H, D) in memory, read as (B, H, n, D).
Layout from_product(std::int64_t B, std::int64_t H, std::int64_t n, std::int64_t D) {
    return Layout({B, H, n, D}, {n * H * D, D, H * D, 1});
}

// Which elements the launcher reads, and where it writes them.
std::string cause(const Layout& fresh, std::int64_t pos, const Layout& cache) {
    const auto from = [=](const Index& i) { return offset(fresh, i); };
    const auto to = [=](const Index& i) { return offset(cache, i[0], i[1], pos + i[2], i[3]); };
    return moved_wrongly({"cache.data",
                          "bhtc",
                          fresh.shape,
                          {{"fresh.data", reach(fresh).highest + 1, from}},
                          to,
                          reach(cache).highest + 1,
                          "cache(b, h, pos + t, c)"},
                         [=](const auto& in, float* out) {
                             kv_append_cuda({in[0], fresh}, pos, {out, cache});
                         });
}

void check_port(const Layout& fresh, std::int64_t pos, const Layout& cache) {
    CAPTURE(to_string(fresh), pos, to_string(cache));
    const Tensor<float> values = distinct<float>(fresh.shape);
    const Tensor<float> before = seeded<float>(cache.shape, 3, -2, -1);
    const HostIn<float> in(values, fresh);
    auto want = HostOut<float>::holding(before, cache);
    kv_append_cpu(in.view(), pos, want.view());
    DeviceIn<float> din(values, fresh, Lead{1});
    auto got = DeviceOut<float>::holding(before, cache, Lead{1});
    practise_port([&] { kv_append_cuda(din.view(), pos, got.view()); }, got, want,
                  [&] { return cause(fresh, pos, cache); }, surplus_threads(fresh.size()));
    REQUIRE(din.unchanged());
}

TEST_CASE("kv_append: the example of the statement", "[day02][kv_append][small]") {
    // All numbers differ, so that a wrong one tells where it came from.
    const Tensor<float> fresh({1, 2, 1, 2}, {9, 10, 11, 12});
    const Tensor<float> before({1, 2, 4, 2},
                               {1, 2, 3, 4, -1, -2, -3, -4, 5, 6, 7, 8, -5, -6, -7, -8});
    const Tensor<float> after({1, 2, 4, 2},
                              {1, 2, 3, 4, 9, 10, -3, -4, 5, 6, 7, 8, 11, 12, -7, -8});
    auto loop = HostOut<float>::holding(before);
    kv_append_cpu(fresh.view(), 2, loop.view());
    REQUIRE(loop.matches(after));
    DeviceIn<float> din(fresh);
    auto got = DeviceOut<float>::holding(before);
    practise_port([&] { kv_append_cuda(din.view(), 2, got.view()); }, got, after,
                  [] {
                      return cause(row_major({1, 2, 1, 2}), 2, row_major({1, 2, 4, 2}));
                  },
                  surplus_threads(4));
}

TEST_CASE("kv_append: the first position, the last, and one between", "[day02][kv_append][small]") {
    for (const std::int64_t pos : {0, 3, 6}) {
        check_port(row_major({2, 3, 1, 4}), pos, row_major({2, 3, 7, 4}));
    }
}

TEST_CASE("kv_append: many positions at once, until the cache is full",
          "[day02][kv_append][small]") {
    check_port(row_major({2, 3, 5, 4}), 2, row_major({2, 3, 7, 4}));
    check_port(row_major({2, 3, 7, 4}), 0, row_major({2, 3, 7, 4}));
}

TEST_CASE("kv_append: new keys as a matrix product leaves them", "[day02][kv_append][small]") {
    check_port(from_product(2, 3, 1, 4), 5, row_major({2, 3, 7, 4}));
    check_port(from_product(2, 3, 5, 4), 1, row_major({2, 3, 7, 4}));
}

TEST_CASE("kv_append: a cache with other strides", "[day02][kv_append][small]") {
    check_port(from_product(2, 3, 2, 5), 4, from_product(2, 3, 7, 5));  // (B, capacity, H, D)
    check_port(row_major({2, 3, 2, 5}), 4,
               Layout({2, 3, 7, 5}, {3000, 800, 8, 1}));  // with a pitch
    check_port(row_major({2, 3, 2, 5}), 4, column_major({2, 3, 7, 5}));
    check_port(row_major({2, 3, 2, 5}), 4, Layout({2, 3, 7, 5}, {105, 35, -5, 1}));
}

TEST_CASE("kv_append: more elements than one block has", "[day02][kv_append][small]") {
    check_port(from_product(1, 2, 1, 64), 3, row_major({1, 2, 5, 64}));
    check_port(from_product(3, 4, 2, 33), 3, row_major({3, 4, 5, 33}));
}

TEST_CASE("kv_append: neighbouring threads touch neighbouring channels",
          "[day02][kv_append][small]") {
    // 2 * 4 heads of 64 channels: 16 warps, each one load and one store of 4 sectors.
    const Layout fresh = from_product(2, 4, 1, 64);
    const Tensor<float> values = distinct<float>(fresh.shape);
    DeviceIn<float> din(values, fresh);
    DeviceOut<float> cache({2, 4, 3, 64});
    const auto touched = gpu::touched([&] { kv_append_cuda(din.view(), 1, cache.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) REQUIRE(touches(*touched, 2 * 16, 2 * 16 * 4));  // counted by the emulator only
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("kv_append: nothing to do", "[day02][kv_append][small]") {
    check_port(row_major({2, 3, 0, 4}), 7, row_major({2, 3, 7, 4}));
    check_port(row_major({0, 3, 1, 4}), 0, row_major({0, 3, 7, 4}));
}

TEST_CASE("kv_append: rejects what the CPU reference rejects", "[day02][kv_append][small]") {
    Tensor<float> fresh({2, 3, 2, 4}), cache({2, 3, 7, 4}), other({2, 4, 7, 3});
    const auto both = [](View<const float> f, std::int64_t pos, View<float> c, const char* words) {
        return both_reject([&] { kv_append_cpu(f, pos, c); }, [&] { kv_append_cuda(f, pos, c); },
                           words);
    };
    REQUIRE(both(fresh.view(), 6, cache.view(),
                 "kv_append: 2 positions starting at 6 do not fit into a cache with capacity 7"));
    REQUIRE(both(fresh.view(), -1, cache.view(), "2 positions starting at -1 do not fit"));
    REQUIRE(both(fresh.view(), 0, other.view(), "they may differ in dimension 2 only"));
    REQUIRE(both(fresh.view(), 0, {cache.data(), Layout({2, 3, 7, 4}, {84, 28, 0, 1})},
                 "writers of it would race"));
}

TEST_CASE("kv_append: the last of more than 2^32 elements", "[day02][kv_append][small]") {
    // One key, the same at every position: fresh has stride 0 there, and only cache is long.
    const std::int64_t n = kBeyond32Bits / 64, D = 64;
    const Tensor<float> key = distinct<float>({D});
    FarEnd<float> cache(n * D, distinct<float>({256}, 5000));
    DeviceIn<float> fresh(key);
    const Layout one_key({1, 1, n, D}, {0, 0, 0, 1});
    Tensor<float> want({32});
    for (std::int64_t i = 0; i < 32; ++i) want(i) = key(32 + i);
    INFO(needs_64_bits(n * D));
    const auto launch = [&] {
        kv_append_cuda({fresh.view().data, one_key}, 0, {cache.data(), Shape{1, 1, n, D}});
    };
    if (gpu::run_last_block(n * D, launch)) {
        REQUIRE_NOTHROW(gpu::synchronize());
        REQUIRE(equal(cache.last(32), want));
    } else {
        SUCCEED("not run: on a GPU, or with several elements per thread");
    }
}

}  // namespace
