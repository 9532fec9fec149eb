// The layout of a struct's fields, and the cost of an array of structs.
#include <cstddef>
#include <cstring>

#include "common/tensor/transform.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/stride_cost.hpp"
#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

struct Loose {      // fields in no particular order
    bool is_on;     // byte 0; a float begins at a multiple of 4, so 3 bytes of padding follow
    float x;        // 4
    bool is_fixed;  // 8; a double begins at a multiple of 8, so 7 bytes of padding
    double mass;    // 16
};
static_assert(sizeof(Loose) == 24 && offsetof(Loose, x) == 4 && offsetof(Loose, mass) == 16);

struct Tight {      // the same fields, largest first
    double mass;    // 0
    float x;        // 8
    bool is_on;     // 12
    bool is_fixed;  // 13; 2 bytes of padding, so that the next mass begins at a multiple of 8
};
static_assert(sizeof(Tight) == 16 && offsetof(Tight, x) == 8 && offsetof(Tight, is_fixed) == 13);
static_assert(sizeof(bool) + sizeof(float) + sizeof(bool) + sizeof(double) == 14);

struct Point {
    float x, y, z, w;
};
static_assert(sizeof(Point) == 4 * sizeof(float) && alignof(Point) == 4);

struct alignas(16) Vector {  // a 128-bit load needs 16-byte alignment
    float x, y, z, w;
};
static_assert(sizeof(Vector) == 16 && alignof(Vector) == 16);

TEST_CASE("an array of structs is a matrix with the fields as columns: 16 sectors for 32 x, not 4",
          "[day02][structs][small]") {
    // [array of structs]
    Point points[32];
    for (int i = 0; i < 32; ++i) {
        const auto f = static_cast<float>(i);
        points[i] = {f, f + 0.25f, f + 0.5f, f + 0.75f};
    }
    // The x of neighbouring points are 4 floats apart; with one array per field they would be
    // adjacent.
    const View<const float> x(&points[0].x, Layout({32}, {4}));
    const View<const float> structs(&points[0].x, row_major({32, 4}));
    const View<const float> fields = transpose(structs);  // (4, 32): fields(0, i) is points[i].x
    CHECK((x(7) == points[7].x && fields(2, 7) == points[7].z));
    CHECK(sectors_asked_for(Layout({1, 32}, {0, 4})) == 16);  // a warp reads x of 32 points
    CHECK(sectors_asked_for(Layout({1, 32}, {0, 1})) == 4);   // the same from an array of x
    // [array of structs]
    // pack turns it into a struct of arrays.
    Tensor<float> all({32, 4});
    std::memcpy(all.data(), points, sizeof points);
    Tensor<float> want({4, 32});
    for (int i = 0; i < 32; ++i) {
        want(0, i) = points[i].x, want(1, i) = points[i].y;
        want(2, i) = points[i].z, want(3, i) = points[i].w;
    }
    HostOut<float> reference({4, 32});
    pack_cpu(fields, reference.view());
    CHECK(reference.matches(want));
    const DeviceIn<float> device(all);
    DeviceOut<float> got({4, 32});
    pack_cuda(transpose(device.view()), got.view());
    CHECK(got.matches(want));
}

TEST_CASE("a number at a misaligned address is read with memcpy", "[day02][structs][small]") {
    const unsigned char file[] = {'G', 0x00, 0x00, 0x80, 0x3f};  // a float from byte 1 on
    float one;
    std::memcpy(&one, file + 1, sizeof one);  // not *reinterpret_cast<const float*>(file + 1)
    CHECK(one == 1.0f);
}

}  // namespace
