// The cases that `common/learn check` runs for decode_q4. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <array>
#include <cmath>

#include "common/gpu/device.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/decode_q4/decode_q4.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;
using gpt2::Q4KBlock;

namespace {

// The numbers of a block, which packed() puts into bytes.
struct Numbers {
    float scale = 0.5f, minimum = 0.25f;  // exact in f16
    std::array<int, 8> scales{}, minima{};
    std::array<int, 256> quants{};
};

Numbers seeded_numbers(std::uint64_t seed) {
    const auto drawn = [&](std::uint64_t of, auto& all, int most) {
        const auto values =
            seeded_integers<float>({static_cast<std::int64_t>(all.size())}, 3 * seed + of, 0, most);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(values.data()[i]);
    };
    Numbers n;
    drawn(0, n.scales, 63), drawn(1, n.minima, 63), drawn(2, n.quants, 15);
    n.scale = static_cast<float>(seed % 5 + 1) / 64, n.minimum = static_cast<float>(seed % 3 + 1);
    return n;
}

Q4KBlock packed(const Numbers& n) {
    Q4KBlock block{};
    block.scale = f16(n.scale), block.minimum = f16(n.minimum);
    const auto byte = [](int bits) { return static_cast<std::uint8_t>(bits); };
    for (std::size_t s = 0; s < 4; ++s) {
        block.scales[s] = byte(n.scales[s] + (n.scales[s + 4] / 16) * 64);
        block.scales[s + 4] = byte(n.minima[s] + (n.minima[s + 4] / 16) * 64);
        block.scales[s + 8] = byte(n.scales[s + 4] % 16 + n.minima[s + 4] % 16 * 16);
    }
    for (std::size_t j = 0; j < 256; ++j) {
        std::uint8_t& both = block.quants[j / 64 * 32 + j % 32];
        both = byte(both + n.quants[j] * (j / 32 % 2 == 0 ? 1 : 16));
    }
    return block;
}

using Blocks = std::vector<Numbers>;

// weight(numbers, s, j) of each block in double. Without it, the right ones.
template <class Each>
Tensor<double> made_of(const Blocks& all, const Each& weight) {
    Tensor<double> out({static_cast<std::int64_t>(all.size()), 256});
    for (std::size_t k = 0; k < 256 * all.size(); ++k) {
        out.data()[k] = weight(all[k / 256], k % 256 / 32, k % 256);
    }
    return out;
}
double weight(const Numbers& n, double scale, double minimum, double quant) {
    return n.scale * scale * quant - n.minimum * minimum;
}
Tensor<double> decoded(const Blocks& all) {
    return made_of(all, [](const Numbers& n, std::size_t s, std::size_t j) {
        return weight(n, n.scales[s], n.minima[s], n.quants[j]);
    });
}

Told cause_of(const Tensor<float>& got, const Blocks& all) {
    // Mistakes in the scales and minima, and in the quants.
    const auto scaled = [&](const auto& of_scale, const auto& of_minimum) {
        return made_of(all, [&](const Numbers& n, std::size_t s, std::size_t j) {
            return weight(n, of_scale(n, s), of_minimum(n, s), n.quants[j]);
        });
    };
    const auto quants = [&](const auto& of_block) {
        return made_of(all, [&](const Numbers& n, std::size_t s, std::size_t j) {
            return weight(n, n.scales[s], n.minima[s], of_block(packed(n).quants, j));
        });
    };
    const auto scale = [](const Numbers& n, std::size_t s) { return n.scales[s]; };
    const auto minimum = [](const Numbers& n, std::size_t s) { return n.minima[s]; };
    // The whole byte of an earlier sub-block; `low`: only the lower bits of a later one.
    const auto whole = [](const auto& six, std::size_t s) {
        return s < 4 ? six[s] + six[s + 4] / 16 * 64 : six[s];
    };
    const auto low = [](const auto& six, std::size_t s) { return s < 4 ? six[s] : six[s] % 16; };
    const auto joined = [](const auto& upper, const auto& lower, std::size_t s) {
        return s < 4 ? upper[s] : upper[s] / 16 * 16 + lower[s] % 16;
    };
    const char* missing =
        "Bits 5 and 4 of the later sub-blocks are missing: they are bits 7 and 6 of the bytes "
        "that hold the numbers of the earlier ones.";
    const char* whole_byte =
        "A byte of an earlier sub-block also contains bits 5 and 4 of a later sub-block: keep "
        "bits 5 to 0, byte & 63.";
    return likely_mistake(
        got, decoded(all),
        {{whole_byte, scaled([&](const Numbers& n, std::size_t s) { return whole(n.scales, s); },
                             [&](const Numbers& n, std::size_t s) { return whole(n.minima, s); })},
         {whole_byte,
          scaled([&](const Numbers& n, std::size_t s) { return whole(n.scales, s); }, minimum)},
         {whole_byte,
          scaled(scale, [&](const Numbers& n, std::size_t s) { return whole(n.minima, s); })},
         {missing, scaled([&](const Numbers& n, std::size_t s) { return low(n.scales, s); },
                          [&](const Numbers& n, std::size_t s) { return low(n.minima, s); })},
         {missing,
          scaled([&](const Numbers& n, std::size_t s) { return low(n.scales, s); }, minimum)},
         {missing,
          scaled(scale, [&](const Numbers& n, std::size_t s) { return low(n.minima, s); })},
         {"The lower bits of the later scales and minima are exchanged: the scale has bits 3 to 0 "
          "of the byte, and the minimum bits 7 to 4.",
          scaled([&](const Numbers& n, std::size_t s) { return joined(n.scales, n.minima, s); },
                 [&](const Numbers& n, std::size_t s) { return joined(n.minima, n.scales, s); })},
         {"The upper bits of the later minima were taken from the scales: they are in the bytes "
          "that hold the earlier minima.",
          scaled(scale,
                 [&](const Numbers& n, std::size_t s) {
                     return s < 4 ? n.minima[s] : joined(n.scales, n.minima, s);
                 })},
         {"Scales and minima are exchanged: the first four bytes hold scales.",
          scaled(minimum, scale)},
         {"Neighbouring weights do not share a byte: weight j is in byte j % 32 of its pair of "
          "sub-blocks.",
          quants([](const auto& bytes, std::size_t j) { return bytes[j / 2] >> j % 2 * 4 & 15; })},
         {"Lower and upper halves of the bytes are exchanged: the even sub-block has bits 3 to 0.",
          quants([](const auto& bytes, std::size_t j) {
              return bytes[j / 64 * 32 + j % 32] >> (1 - j / 32 % 2) * 4 & 15;
          })},
         {"A byte holds weights that are 32 apart, not 128: two neighbouring sub-blocks share 32 "
          "bytes.",
          quants(
              [](const auto& bytes, std::size_t j) { return bytes[j % 128] >> j / 128 * 4 & 15; })},
         {"The quant of an even sub-block also contains that of the odd one: keep four bits, "
          "byte & 15.",
          quants([](const auto& bytes, std::size_t j) {
              return bytes[j / 64 * 32 + j % 32] >> j / 32 % 2 * 4;
          })},
         {"Nothing was decoded: quants, scales and minima are all 0.",
          made_of(all, [](const Numbers&, std::size_t, std::size_t) { return 0.0; })},
         {"No minimum was subtracted: minimum[s] is 0.",
          scaled(scale, [](const Numbers&, std::size_t) { return 0; })},
         {"The quants are missing: these are the minima alone.",
          quants([](const auto&, std::size_t) { return 0; })}});
}

Blocks seeded_blocks(std::uint64_t seed, std::size_t count) {
    Blocks all;
    for (std::size_t b = 0; b < count; ++b) all.push_back(seeded_numbers(seed + b));
    return all;
}

Tensor<Q4KBlock> packed(const Blocks& all) {
    Tensor<Q4KBlock> blocks({static_cast<std::int64_t>(all.size())});
    for (std::size_t b = 0; b < all.size(); ++b) blocks.data()[b] = packed(all[b]);
    return blocks;
}

void check_port(const Blocks& all) {
    CAPTURE(all.size());
    const Tensor<double> want = decoded(all);
    const Tensor<Q4KBlock> blocks = packed(all);
    // Only the difference rounds, by half a unit in its last place.
    const auto bound = [&](const Index& at) { return 0x1p-24 * std::abs(want(at[0], at[1])); };
    HostOut<float> loop(want.shape());
    decode_q4_cpu(blocks.view(), loop.view());
    REQUIRE(loop.close_to(want, bound));
    DeviceIn<Q4KBlock> in(blocks, Lead{1});
    DeviceOut<float> got(want.shape(), Lead{1});
    const auto why = [&] {
        return confirmed(cause_of(got.values(), all), [] {
            const Blocks larger = seeded_blocks(40, 3);
            DeviceIn<Q4KBlock> of(packed(larger));
            DeviceOut<float> out({3, 256});
            decode_q4_cuda(of.view(), out.view());
            gpu::check_pending();
            return cause_of(out.values(), larger);
        });
    };
    finish([&] { decode_q4_cuda(in.view(), got.view()); });
    const Comparison same = got.close_to(want, bound);
    require(same, same ? "" : why());
    REQUIRE(in.unchanged());
}

TEST_CASE("decode_q4: quants", "[day06][decode_q4][small]") {
    Numbers n = seeded_numbers(1);
    n.scale = 1, n.minimum = 0;
    n.scales.fill(1);
    check_port({n});
}

TEST_CASE("decode_q4: scales and minima below 16", "[day06][decode_q4][small]") {
    Numbers n = seeded_numbers(2);
    for (int& scale : n.scales) scale %= 16;
    for (int& minimum : n.minima) minimum %= 16;
    check_port({n});
}

TEST_CASE("decode_q4: the example of the statement", "[day06][decode_q4][small]") {
    Numbers n;
    n.scale = 1, n.minimum = 1;
    n.quants.fill(1);
    n.scales = {1, 5, 2, 3, 4, 35, 6, 7}, n.minima = {8, 9, 10, 11, 12, 7, 14, 15};
    const Q4KBlock block = packed(n);
    REQUIRE(int{block.scales[1]} == 0x85);
    REQUIRE(int{block.scales[9]} == 0x73);
    check_port({n});
}

TEST_CASE("decode_q4: scales and minima of six bits, several blocks", "[day06][decode_q4][small]") {
    check_port(seeded_blocks(3, 1));
    check_port(seeded_blocks(4, 7));
    check_port({});
}

TEST_CASE("decode_q4: all bits", "[day06][decode_q4][small]") {
    for (const int most : {0, 1}) {
        Numbers n;
        n.scales.fill(63 * most), n.minima.fill(63 - 63 * most), n.quants.fill(15 * most);
        check_port({n});
    }
}

TEST_CASE("decode_q4: rejects what the CPU reference rejects", "[day06][decode_q4][small]") {
    Tensor<Q4KBlock> in({2});
    Tensor<float> out({2, 256}), few({2, 32}), flat({512});
    const auto rejected = [&](View<float> to, const char* words) {
        return both_reject([&] { decode_q4_cpu(in.view(), to); },
                           [&] { decode_q4_cuda(in.view(), to); }, words);
    };
    REQUIRE(rejected(few.view(), "so out must have shape (2, 256), not (2, 32)"));
    REQUIRE(rejected(flat.view(), "so out must have shape (2, 256), not (512)"));
    REQUIRE(rejected({nullptr, Shape{2, 256}}, "out"));
}

}  // namespace
