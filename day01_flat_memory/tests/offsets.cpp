// Offsets, parameters and the size of a KV cache.
#include "day01_flat_memory/offsets.hpp"
#include "common/tensor/index.hpp"
#include "day01_flat_memory/parameters.hpp"
#include "day01_flat_memory/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

TEST_CASE("the offset of element (1, 2) of a 3 x 3 matrix is 5", "[day01][offsets][small]") {
    const Tensor<int> x({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(offset2(1, 2, 3) == 5);
    CHECK(x.data()[offset2(1, 2, 3)] == 6);
    CHECK(x.data()[offset2(2, 1, 3)] == 8);  // rows and columns swapped would give 6
}

TEST_CASE("offsets count 0, 1, 2, ... in the order of the loop nest", "[day01][offsets][small]") {
    const std::int64_t B = 2, H = 3, T = 4, S = 5;
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < H; ++h) {
            for (std::int64_t q = 0; q < T; ++q) {
                for (std::int64_t k = 0; k < S; ++k, ++next) {
                    CHECK(offset4(b, h, q, k, H, T, S) == next);
                    CHECK(offset(row_major({B, H, T, S}), b, h, q, k) == next);
                    CHECK(offset3(b * H + h, q, k, T, S) == next);  // two dimensions treated as one
                    CHECK(offset2((b * H + h) * T + q, k, S) == next);
                }
            }
        }
    }
    CHECK(next == 120);
}

TEST_CASE("a row pointer plus the last index gives the whole offset", "[day01][offsets][small]") {
    const std::int64_t B = 3, T = 5, C = 7;
    const Tensor<float> x = distinct<float>({B, T, C});
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t t = 0; t < T; ++t) {
            const float* token = token_at(x.data(), b, t, T, C);
            for (std::int64_t c = 0; c < C; ++c)
                CHECK(&token[c] == x.data() + offset3(b, t, c, T, C));
        }
    }
}

TEST_CASE("offsets do not wrap at 2^31 or 2^32 elements", "[day01][offsets][small]") {
    // Worked by hand: 128 * 4096 * 4096 is 2^31 exactly, so the last offset is the largest int.
    CHECK(offset3(127, 4095, 4095, 4096, 4096) == 2147483647);
    CHECK(offset3(128, 0, 0, 4096, 4096) == kTwo31);
    CHECK(offset2(65536, 1, 65536) == 2 * kTwo31 + 1);
    // 32 sequences, 12 heads, 4,096 positions: 32 * 12 * 4096 * 4096 elements.
    CHECK(offset4(31, 11, 4095, 4095, 12, 4096, 4096) == 6442450943);
}

TEST_CASE("scores_of() plus the key position gives the whole offset", "[day01][offsets][small]") {
    const std::int64_t B = 2, H = 3, T = 4, S = 5;
    const Tensor<float> x = distinct<float>({B, H, T, S});
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < H; ++h) {
            for (std::int64_t q = 0; q < T; ++q) {
                const float* row = scores_of(x.data(), b, h, q, H, T, S);
                for (std::int64_t k = 0; k < S; ++k) CHECK(&row[k] == &x(b, h, q, k));
            }
        }
    }
    // By hand: sequence 1, head 2, query 3 of (2, 3, 4, 5) has 1*3 + 2 = 5 matrices of 4 rows and 3
    // rows before it, each of 5 scores: (5*4 + 3)*5 = 115.
    CHECK(scores_of(x.data(), 1, 2, 3, H, T, S) - x.data() == 115);
    const auto* none = reinterpret_cast<const float*>(std::uintptr_t{1} << 40);  // arithmetic only
    const auto far =
        reinterpret_cast<std::uintptr_t>(scores_of(none, 31, 11, 4095, 12, 4096, 4096));
    CHECK(far - (std::uintptr_t{1} << 40) == 4 * std::uintptr_t{6442446848});
}

TEST_CASE("GPT-2 124M has 124,475,904 parameters in 16 tensors", "[day01][parameters][small]") {
    std::vector<Part> parts = gpt2_parameters();
    for (const Part& part : parts) CHECK((part.first == 0 && part.count == 0));
    const std::int64_t total = cut(parts);
    REQUIRE(parts.size() == 16);
    CHECK(total == 124475904);  // 124,475,136 is the sum without the last tensor
    // Offsets by hand: 50,304 * 768, then + 1,024 * 768, + 12 * 768, ...
    const struct {
        const char* name;
        Shape shape;
        std::int64_t first;
    } llm_c[] = {{"wte", {50304, 768}, 0},
                 {"wpe", {1024, 768}, 38633472},
                 {"ln1w", {12, 768}, 39419904},
                 {"ln1b", {12, 768}, 39429120},
                 {"qkvw", {12, 2304, 768}, 39438336},
                 {"qkvb", {12, 2304}, 60672000},
                 {"attprojw", {12, 768, 768}, 60699648},
                 {"attprojb", {12, 768}, 67777536},
                 {"ln2w", {12, 768}, 67786752},
                 {"ln2b", {12, 768}, 67795968},
                 {"fcw", {12, 3072, 768}, 67805184},
                 {"fcb", {12, 3072}, 96116736},
                 {"fcprojw", {12, 768, 3072}, 96153600},
                 {"fcprojb", {12, 768}, 124465152},
                 {"lnfw", {768}, 124474368},
                 {"lnfb", {768}, 124475136}};
    for (std::size_t i = 0; i < 16; ++i) {
        CAPTURE(llm_c[i].name);
        CHECK(parts[i].name == llm_c[i].name);
        CHECK(parts[i].shape == llm_c[i].shape);
        CHECK(parts[i].first == llm_c[i].first);
    }
    CHECK(parts[0].count == 38633472);  // 50,304 * 768
    CHECK(parts[15].count == 768);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        CHECK(parts[i].first == parts[i - 1].first + parts[i - 1].count);
    }
}

TEST_CASE("an empty tensor takes no space in the allocation", "[day01][parameters][small]") {
    std::vector<Part> parts = {{"a", {2, 3}}, {"b", {0, 5}}, {"c", {}}, {"d", {4}}};
    CHECK(cut(parts) == 11);
    CHECK(parts[1].first == 6);
    CHECK(parts[2].first == 6);
    CHECK(parts[2].count == 1);  // rank 0 has one element
    CHECK(parts[3].first == 7);
    std::vector<Part> nothing;
    CHECK(cut(nothing) == 0);
}

TEST_CASE("cut() rejects negative extents and totals beyond 64 bits",
          "[day01][parameters][small]") {
    std::vector<Part> negative = {{"a", {2, -3}}};
    CHECK(rejection([&] { cut(negative); }) ==
          "shape (2, -3): the extent of dim 1 is -3, and an extent cannot be negative");
    const std::int64_t large = std::int64_t{1} << 62;
    std::vector<Part> two = {{"a", {large}}, {"b", {large}}};
    CHECK(rejection([&] { cut(two); }) == "cut: the total up to b does not fit in 64 bits");
}

TEST_CASE("the KV cache of GPT-2 124M takes 72 KiB per position", "[day01][parameters][small]") {
    CHECK(kv_cache_bytes({}, 1024, 4) == 75497472);   // 72 MiB: 2 * 12 * 12 * 1024 * 64 * 4
    CHECK(kv_cache_bytes({}, 2048, 4) == 150994944);  // 144 MiB
    CHECK(kv_cache_bytes({}, 0, 4) == 0);
    // A large model: 2 * 80 * 64 * 131072 * 128 * 2 bytes = 320 GiB, far beyond 32 bits.
    Gpt2Sizes large;
    large.L = 80;
    large.H = 64;
    large.C = 8192;
    CHECK(kv_cache_bytes(large, 131072, 2) == 343597383680);
    CHECK(rejection([] {
              Gpt2Sizes odd;
              odd.H = 5;
              (void)kv_cache_bytes(odd, 1024, 4);
          }) == "kv_cache_bytes: 768 channels cannot be shared by 5 heads");
    CHECK(rejection([] {
              Gpt2Sizes none;
              none.H = 0;
              (void)kv_cache_bytes(none, 1024, 4);
          }) == "kv_cache_bytes: 768 channels cannot be shared by 0 heads");
    CHECK(rejection([] { (void)kv_cache_bytes({}, -1, 4); }) != "");
    CHECK(rejection([&] { (void)kv_cache_bytes(large, kTwo31 << 31, 2); }) != "");
}

}  // namespace
