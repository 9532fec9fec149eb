// The cases that `common/learn check` runs for rotate_pair. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/rotate_pair/rotate_pair.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Cosines and sines of angles that differ in all positions and pairs.
Tensor<float> table_of(std::int64_t P, std::int64_t D) {
    Tensor<float> table({P, D});
    for (std::int64_t p = 0; p < P; ++p) {
        for (std::int64_t i = 0; i < D / 2; ++i) {
            const double angle = 0.3 + 0.7 * static_cast<double>(p) / static_cast<double>(i + 1);
            table(p, i) = static_cast<float>(std::cos(angle));
            table(p, D / 2 + i) = static_cast<float>(std::sin(angle));
        }
    }
    return table;
}

struct Case {
    Tensor<float> in, table;
    std::int64_t first;
};

Case seeded_case(std::int64_t T, std::int64_t H, std::int64_t D, std::int64_t first) {
    return {seeded<float>({T, H, D}, 1, 1, 4), table_of(first + T + 3, D), first};
}

// A rotation with one planted bug, or none.
struct Wrong {
    bool halves = false, no_first = false, head_row = false, alternating = false;
    bool overwritten = false;
    // out(2 i) = a c + by_s b s, and out(2 i + 1) = from_a a s + from_b b c
    double by_s = -1, from_a = 1, from_b = 1;
};
Tensor<double> rotated(const Case& k, const Wrong& wrong = {}) {
    const std::int64_t T = k.in.shape()[0], H = k.in.shape()[1], D = k.in.shape()[2], half = D / 2;
    Tensor<double> out(k.in.shape());
    for (std::int64_t t = 0; t < T; ++t) {
        for (std::int64_t h = 0; h < H; ++h) {
            for (std::int64_t i = 0; i < half; ++i) {
                const std::int64_t x = wrong.halves ? i : 2 * i;
                const std::int64_t y = wrong.halves ? i + half : x + 1;
                const std::int64_t row = (wrong.no_first ? 0 : k.first) + (wrong.head_row ? h : t);
                const double a = k.in(t, h, x), b = k.in(t, h, y);
                const double c = k.table(row, wrong.alternating ? 2 * i : i);
                const double s = k.table(row, wrong.alternating ? 2 * i + 1 : half + i);
                out(t, h, x) = a * c + wrong.by_s * b * s;
                out(t, h, y) = wrong.from_a * (wrong.overwritten ? out(t, h, x) : a) * s +
                               wrong.from_b * b * c;
            }
        }
    }
    return out;
}

// What |a c| + |b s| can be at most, for a bound.
double largest_sum(const Case& k) {
    double most = 0;
    for (std::int64_t i = 0; i < k.in.size(); ++i) {
        most = std::max(most, std::abs(static_cast<double>(k.in.data()[i])));
    }
    return 2 * most;
}

Told cause_of(const Tensor<float>& got, const Case& k, bool in_place) {
    const Tensor<double> want = rotated(k);
    const char* lost =
        "The first number of the pair was overwritten before the second was computed: `out` may "
        "be `in`, so load both numbers before you write one.";
    return likely_mistake(
        got, want,
        {{in_place ? lost
                   : "The second number was computed from the rotated first one: use the one "
                     "that was loaded.",
          rotated(k, {.overwritten = true})},
         {"Element i was paired with i + D / 2, as in Qwen's models. Here pair i is 2 i and 2 i + "
          "1.",
          rotated(k, {.halves = true})},
         {"`first` is missing: token t has row first + t of the table.",
          rotated(k, {.no_first = true})},
         {"Each head was rotated by another row: the row depends on the token alone, "
          "k / (D / 2) / H.",
          rotated(k, {.head_row = true})},
         {"Within a row, cosines and sines do not alternate: cosine i is at i, and sine i at "
          "D / 2 + i.",
          rotated(k, {.alternating = true})},
         {"The pair was rotated in the opposite direction: a * c - b * s, and a * s + b * c.",
          rotated(k, {.by_s = 1, .from_a = -1})},
         {"a * s is missing in the second number.", rotated(k, {.from_a = 0})},
         {"The first number lacks b * s.", rotated(k, {.by_s = 0})},
         {"The first number has the wrong sign of b * s, which is subtracted there.",
          rotated(k, {.by_s = 1})},
         {"The second number has the wrong sign of b * c: both products are added there.",
          rotated(k, {.from_b = -1})},
         {"The second number has the wrong sign of a * s: both products are added there.",
          rotated(k, {.from_a = -1})}});
}

std::string cause(const Tensor<float>& got, const Case& k, bool in_place) {
    const std::string known = confirmed(cause_of(got, k, in_place), [&] {
        const Case larger = seeded_case(6, 3, 8, 2);
        DeviceIn<float> table(larger.table);
        auto now = DeviceOut<float>::holding(larger.in);
        const View<float> x = now.view();
        DeviceIn<float> in(larger.in);
        rotate_pair_cuda(in_place ? View<const float>(x) : in.view(), table.view(), larger.first,
                         x);
        gpu::check_pending();
        return cause_of(now.values(), larger, in_place);
    });
    if (!known.empty()) return known;
    const std::int64_t T = 3, H = 2, D = 8;
    return read_wrongly({"out",
                         "thd",
                         {T, H, D},
                         {{"in",
                           {T, H, D},
                           [](const Index& out, const Index& e) {
                               return e[0] == out[0] && e[1] == out[1] && e[2] / 2 == out[2] / 2;
                           }},
                          {"table",
                           {4, D},
                           [](const Index& out, const Index& e) {
                               return e[0] == 1 + out[0] && e[1] % 4 == out[2] / 2;
                           }}}},
                        [=](const auto& in, float* out) {
                            rotate_pair_cuda({in[0], Shape{T, H, D}}, {in[1], Shape{4, D}}, 1,
                                             {out, Shape{T, H, D}});
                        });
}

void check_port(const Case& k) {
    const std::int64_t T = k.in.shape()[0], H = k.in.shape()[1], D = k.in.shape()[2];
    CAPTURE(T, H, D, k.first);
    const Tensor<double> want = rotated(k);
    const double bound = 2 * 0x1p-24 * largest_sum(k);  // two products and their sum
    HostOut<float> loop(k.in.shape());
    rotate_pair_cpu(k.in.view(), k.table.view(), k.first, loop.view());
    REQUIRE(loop.close_to(want, bound));
    DeviceIn<float> in(k.in, Lead{2}), table(k.table, Lead{1});
    DeviceOut<float> got(k.in.shape(), Lead{2});
    rotate_pair_cuda(in.view(), table.view(), k.first, got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.close_to(want, bound);
    require(same, same ? "" : cause(got.values(), k, false));
    REQUIRE(in.unchanged());
    REQUIRE(table.unchanged());
}

TEST_CASE("rotate_pair: the example of the statement", "[day06][rotate_pair][small]") {
    check_port({Tensor<float>({1, 1, 4}, {1, 2, 3, 4}),
                Tensor<float>({2, 4}, {1, 1, 0, 0, 0, 1, 1, 0}), 1});
}

TEST_CASE("rotate_pair: tokens, heads and positions", "[day06][rotate_pair][small]") {
    check_port(seeded_case(1, 1, 2, 0));
    check_port(seeded_case(5, 3, 8, 0));
    check_port(seeded_case(5, 2, 64, 7));
    check_port(seeded_case(40, 3, 6, 2));
    check_port(seeded_case(0, 3, 8, 2));
    check_port(seeded_case(3, 0, 8, 2));
    check_port(seeded_case(3, 2, 0, 2));
}

TEST_CASE("rotate_pair: in place", "[day06][rotate_pair][small]") {
    const Case k = seeded_case(5, 3, 8, 2);
    DeviceIn<float> table(k.table);
    auto x = DeviceOut<float>::holding(k.in);
    rotate_pair_cuda(x.view(), table.view(), k.first, x.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = x.close_to(rotated(k), 2 * 0x1p-24 * largest_sum(k));
    INFO("This case runs in place: `out` is `in`.");
    require(same, same ? "" : cause(x.values(), k, true));
}

TEST_CASE("rotate_pair: coalesced accesses, and each element is read once",
          "[day06][rotate_pair][small]") {
    const std::int64_t T = 8, H = 4, D = 64, all = T * H * D / 8;  // sectors of `in`
    const Case k = seeded_case(T, H, D, 0);
    DeviceIn<float> in(k.in), table(k.table);
    DeviceOut<float> got(k.in.shape());
    const auto touched =
        gpu::touched([&] { rotate_pair_cuda(in.view(), table.view(), 0, got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) {  // counted by the emulator only
        // Each of the two loads and two stores of a thread touches all sectors of its warp's pairs.
        const std::int64_t enough = 2 * all + 2 * all + all;
        INFO("Memory moved " << touched->sectors << " sectors of 32 bytes where " << enough
                             << " suffice. If it is more, the accesses are uncoalesced: "
                                "neighbouring threads need neighbouring pairs, or a pair is read "
                                "several times.");
        REQUIRE(touched->sectors <= enough);
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("rotate_pair: the last of more than 2^32 elements", "[day06][rotate_pair][small]") {
    DeviceIn<float> angles(distinct<float>({1, 32}));
    // Apart from the end of `out` on the emulator; a GPU cannot read the host's constants.
    const float* table = gpu::is_emulated() ? far_constants(1024) : angles.view().data;
    check_far_rows([&](View<const float> in, View<float> out) {
        const Shape heads = {1, in.extent(0), 32};
        rotate_pair_cuda({in.data, heads}, {table, Shape{1, 32}}, 0, {out.data, heads});
    });
}

TEST_CASE("rotate_pair: rejects what the CPU reference rejects", "[day06][rotate_pair][small]") {
    Tensor<float> in({2, 3, 4}), out({2, 3, 4}), odd({2, 3, 5}), table({6, 4}), wide({6, 8});
    const auto rejected = [](View<const float> x, View<const float> of, std::int64_t first,
                             View<float> y, const char* words) {
        return both_reject([&] { rotate_pair_cpu(x, of, first, y); },
                           [&] { rotate_pair_cuda(x, of, first, y); }, words);
    };
    REQUIRE(rejected(in.view(), table.view(), 0, odd.view(), "they must be equal"));
    REQUIRE(rejected(odd.view(), table.view(), 0, odd.view(), "must be an even number"));
    REQUIRE(rejected(in.view(), wide.view(), 0, out.view(), "so table must have shape (P, 4)"));
    REQUIRE(rejected(in.view(), table.view(), 5, out.view(), "it must be 0 .. 4"));
    REQUIRE(rejected(in.view(), table.view(), -1, out.view(), "it must be 0 .. 4"));
    REQUIRE(rejected(in.view(), {in.data(), Shape{6, 4}}, 0, in.view(), "table and out overlap"));
    Tensor<float> long_one({25});
    REQUIRE(rejected({long_one.data(), Shape{2, 3, 4}}, table.view(), 0,
                     {long_one.data() + 1, Shape{2, 3, 4}}, "and are not the same"));
}

}  // namespace
