// The examples of CUDA's Tile C++ reference have the stated results. Its statements about types are
// asserted in examples.cu.
#include "common/gpu/tests/tiles/examples.hpp"

#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/tensor/half.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using gpu::Buffer;
using namespace gpu::tests;

namespace {

template <class T>
Buffer<T> on_device(const std::vector<T>& x) {
    return Buffer<T>(Tensor<T>({static_cast<std::int64_t>(x.size())}, x));
}
using Ints = std::vector<int>;

}  // namespace

TEST_CASE("source examples: a block adds two numbers", "[small]") {
    const auto a = on_device<int>({1, 2, 3}), b = on_device<int>({10, -20, 30});
    Buffer<int> c(3);
    example_add(a.view({3}), b.view({3}), c.view({3}));
    CHECK(c.download() == Ints{11, -18, 33});
}

TEST_CASE("source examples: extents, their equivalence and their index space", "[small]") {
    Buffer<int> lengths(5), equal(7), indices(12);
    example_lengths(lengths.view({5}));
    CHECK(lengths.download() == Ints{48, 48, 48, 32, 45});
    example_equivalences(equal.view({7}));
    CHECK(equal.download() == Ints{1, 1, 1, 0, 0, 1, 0});
    example_index_space(indices.view({6, 2}));
    CHECK(indices.download() == Ints{0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2});
}

TEST_CASE("source examples: the row-major arrangement of a tile", "[small]") {
    Buffer<int> out(8);
    example_arrangement(out.view({8}));
    CHECK(out.download() == Ints{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("source examples: bfloat16 to half rounds to nearest even", "[small]") {
    // A half has more fraction bits than a bfloat16, so only its smallest numbers round: their ulp
    // is 2^-24.
    const std::vector<float> x = {1.0078125f, 0x1.8p-24f, 0x1.4p-24f, 0x1p-25f};
    const auto in = on_device(x);
    Buffer<float> out(4);
    example_conversion(in.view({4}), out.view({4}));
    CHECK(out.download() == std::vector<float>{1.0078125f, 0x1p-23f, 0x1p-24f, 0});
}

TEST_CASE("source examples: broadcast and mutual broadcast", "[small]") {
    Buffer<int> first(32), second(8), mutual(16);
    example_broadcasts(first.view({32}), second.view({8}), mutual.view({16}));
    Ints rows;
    for (int n = 0; n < 32; ++n) rows.push_back(n / 8 + 1);
    CHECK(first.download() == rows);
    CHECK(second.download() == Ints{1, 2, 1, 2, 1, 2, 1, 2});
    CHECK(mutual.download() == Ints{1, 2, 3, 4, 1, 2, 3, 4, 5, 5, 5, 5, 6, 6, 6, 6});
}

TEST_CASE("source examples: floats minus doubles, and a comparison with a double", "[small]") {
    Buffer<double> out(4);
    Buffer<int> equal(8);
    example_arithmetic(out.view({4}), equal.view({8}));
    CHECK(out.download() == std::vector<double>{-2, 2, 1, 5});
    CHECK(equal.download() == Ints{1, 1, 1, 1, 1, 1, 1, 1});  // 42 is 42.0, and not 42.5
}

TEST_CASE("source examples: a span, and strides of complex numbers", "[small]") {
    const std::vector<float> data = {0, 1, 2, 3, 4, 5, 6, 7};
    const auto in = on_device(data);
    Buffer<float> out(8);
    example_span(in.view({2, 4}), out.view({2, 4}));
    CHECK(out.download() == data);

    std::vector<float> numbers, re, im;
    for (int k = 0; k < 8; ++k) {
        re.push_back(static_cast<float>(k));
        im.push_back(static_cast<float>(-100 - k));
        numbers.push_back(re.back());
        numbers.push_back(im.back());
    }
    const auto complex = on_device(numbers);
    Buffer<float> real(8), imaginary(8);
    example_strides(complex.view({16}), real.view({2, 4}), imaginary.view({2, 4}));
    CHECK(real.download() == re);
    CHECK(imaginary.download() == im);
}

TEST_CASE("source examples: rounding toward negative, and subnormals flushed", "[small]") {
    Buffer<float> out(4);
    example_modifiers(out.view({4}));
    const float eps = 0x0.000002p0f;
    CHECK(out.download() == std::vector<float>{8, 8 + 8 * eps, 0, 0x0.1p-126f});
}

TEST_CASE("source examples: atomic stores to one word leave one of their values", "[small]") {
    Buffer<int> out(1);
    example_memory(out.view({1}));
    const int x = out.download()[0];
    CHECK((x == 0 || x == 1 || x == 2 || x == 3));
}
