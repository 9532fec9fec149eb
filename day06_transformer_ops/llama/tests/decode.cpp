// The kernel that rotates one token's queries and keys, compared with its formula in double
// precision: heads of every width, norms of queries and keys each alone, and a cache with gaps.
#include "day06_transformer_ops/llama/decode.hpp"

#include <cmath>

#include "common/gpu/buffer.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using namespace sixdays::testing;
using day06_transformer_ops::Pairing, day06_transformer_ops::rotary_frequencies;

namespace {

constexpr std::int64_t kCapacity = 5, kPlace = 3;
constexpr float kUntouched = 77;

struct Case {
    std::int64_t H, G, D, R;  // as Projections has them
    Pairing pairing;
    bool q_norm, k_norm;
    float eps;

    std::int64_t columns() const { return (H + 2 * G) * D; }
    // Strides of the cache, with gaps between positions and between heads.
    Layout cache() const {
        const std::int64_t row = D + 4;
        return Layout({G, kCapacity, D}, {kCapacity * row + 8, row, 1});
    }
};

// A head's elements in double, and the magnitudes that their roundings are relative to.
struct Exact {
    std::vector<double> values, sizes;
};

// A head that is normalized and rotated, by the formula.
Exact exact(const Case& c, const float* x, const Tensor<float>* norm, const Tensor<float>& table) {
    double squares = 0;
    for (std::int64_t d = 0; d < c.D; ++d) squares += double{x[d]} * x[d];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(c.D) + c.eps);
    Exact out;
    for (std::int64_t d = 0; d < c.D; ++d) {
        out.values.push_back(norm != nullptr ? x[d] * scale * (*norm)(d) : x[d]);
        out.sizes.push_back(std::abs(out.values.back()));
    }
    for (std::int64_t i = 0; i < c.R / 2; ++i) {
        const bool halves = c.pairing == Pairing::halves;
        const auto first = static_cast<std::size_t>(halves ? i : 2 * i);
        const auto second = static_cast<std::size_t>(halves ? i + c.R / 2 : 2 * i + 1);
        const double cosine = table(kPlace, i), sine = table(kPlace, c.R / 2 + i);
        const double a = out.values[first], b = out.values[second];
        out.values[first] = a * cosine - b * sine;
        out.values[second] = a * sine + b * cosine;
        out.sizes[first] = std::abs(a * cosine) + std::abs(b * sine);
        out.sizes[second] = std::abs(a * sine) + std::abs(b * cosine);
    }
    return out;
}

// The same in the epilogue of a product: of zeros with a bias, in three parts.
void project_and_rotate(const Projections& of, const Tensor<float>& raw, const gpt2::KvSlots& cache,
                        const std::int64_t* place) {
    const Tensor<float> ones({8}, std::vector<float>(8, 1)), zeros({8});
    const gpu::Buffer<float> weight(ones), stream(zeros), bias(raw);
    std::vector<gpt2::DeviceWeight> matrices;
    Parts parts;
    std::int64_t first = 0;
    for (const std::int64_t heads : {of.H, of.G, of.G}) {
        const std::int64_t rows = heads * of.D;
        const Tensor<float> none({rows, 8});
        matrices.emplace_back(Weight{
            gpt2::WeightType::f32, reinterpret_cast<const std::byte*>(none.data()), none.shape()});
        parts.push_back({matrices.back().matrix(), bias.data() + first});
        first += rows;
    }
    launch_project_and_rotate({weight.data(), 1e-5f}, parts, stream.data(), of, cache, place, {});
}

void check(const Case& c, bool at_once = false) {
    CAPTURE(c.H, c.G, c.D, c.R, c.pairing == Pairing::halves, c.q_norm, c.k_norm, at_once);
    const auto raw = seeded<float>({c.columns()}, 1, -2, 2), q_norm = seeded<float>({c.D}, 2, 1, 2),
               k_norm = seeded<float>({c.D}, 3, 1, 2);
    const auto table = day06_transformer_ops::rotary_table(kCapacity, rotary_frequencies(c.R, 10));
    const Layout layout = c.cache();
    const std::int64_t room = c.G * layout.stride(0);
    Tensor<float> empty({room});
    for (std::int64_t i = 0; i < room; ++i) empty(i) = kUntouched;
    const gpu::Buffer<float> d_q(q_norm), d_k(k_norm), d_table(table);
    gpu::Buffer<float> d_raw(raw), keys(empty), values(empty), angles(c.R);
    const gpu::Buffer<std::int64_t> place(Tensor<std::int64_t>({1}, {kPlace}));
    launch_angles(d_table.data(), place.data(), c.R, angles.data(), {});
    for (std::int64_t i = 0; i < c.R; ++i) CHECK(angles.download(i, 1)[0] == table(kPlace, i));
    const Projections of = {d_raw.data(),
                            c.H,
                            c.G,
                            c.D,
                            c.q_norm ? d_q.data() : nullptr,
                            c.k_norm ? d_k.data() : nullptr,
                            c.eps,
                            angles.data(),
                            c.R,
                            c.pairing};
    const gpt2::KvSlots cache = {keys.view(layout), values.view(layout)};
    if (at_once) {
        REQUIRE(of.rotates_at_once());
        project_and_rotate(of, raw, cache, place.data());
    } else {
        CHECK(of.rotates_at_once() == (c.pairing == Pairing::neighbours && !c.q_norm && !c.k_norm));
        launch_rotate(of, cache, place.data(), {});
    }

    // The squares are rounded once each and in up to D sums, whose error the root halves. Ten more
    // roundings: of the division, the root, eps, the norm's products and the rotation.
    const double roundings = static_cast<double>(c.D) / 2 + 10;
    const auto got_raw = d_raw.download(0, c.columns());
    std::vector<float> got_keys = keys.download(0, room), got_values = values.download(0, room);
    int wrong = 0;
    const auto compare = [&](const float* got, const Exact& want) {
        for (std::size_t d = 0; d < want.values.size(); ++d) {
            wrong += !(std::abs(got[d] - want.values[d]) <= roundings * 0x1p-24 * want.sizes[d]);
        }
    };
    for (std::int64_t h = 0; h < c.H; ++h) {
        compare(got_raw.data() + h * c.D,
                exact(c, raw.data() + h * c.D, c.q_norm ? &q_norm : nullptr, table));
    }
    CHECK(wrong == 0);
    for (std::int64_t i = c.H * c.D; i < c.columns(); ++i) {
        wrong += got_raw[static_cast<std::size_t>(i)] != raw(i);
    }
    for (std::int64_t g = 0; g < c.G; ++g) {
        const float* const key = raw.data() + (c.H + g) * c.D;
        const std::int64_t at = g * layout.stride(0) + kPlace * layout.stride(1);
        compare(got_keys.data() + at, exact(c, key, c.k_norm ? &k_norm : nullptr, table));
        for (std::int64_t d = 0; d < c.D; ++d) {
            float &of_key = got_keys[static_cast<std::size_t>(at + d)],
                  &of_value = got_values[static_cast<std::size_t>(at + d)];
            wrong += of_value != key[c.G * c.D + d];
            of_key = of_value = kUntouched;  // what is left was never written
        }
    }
    for (const auto* const left : {&got_keys, &got_values}) {
        for (const float x : *left) wrong += x != kUntouched;
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("CUDA: queries and keys are normalized, rotated and appended as the formula says",
          "[day06][small]") {
    const Pairing pairing = GENERATE(Pairing::neighbours, Pairing::halves);
    const bool q_norm = GENERATE(false, true), k_norm = GENERATE(false, true);
    const struct {
        std::int64_t H, G, D, R;
    } sizes[] = {{1, 1, 2, 2},   {5, 1, 8, 8},     {4, 2, 12, 4},    {3, 3, 66, 64},
                 {2, 1, 80, 66}, {6, 2, 128, 128}, {1, 2, 256, 256}, {2, 3, 256, 130}};
    for (const auto& [H, G, D, R] : sizes) {
        check({H, G, D, R, pairing, q_norm, k_norm, 1e-5f});
        check({H, G, D, R, pairing, q_norm, k_norm, 0.5f});  // as large as the squares' mean
        if (pairing == Pairing::neighbours && !q_norm && !k_norm) {
            check({H, G, D, R, pairing, false, false, 1e-5f}, true);
        }
    }
}
