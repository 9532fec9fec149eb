// Views of views: answers worked by hand, and rejected arguments.
#include "common/tensor/transform.hpp"

#include "common/tensor/index.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/tensor.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using sixdays::testing::rejection;

// --- worked by hand ------------------------------------------------------------------------------

TEST_CASE("whole rows of a matrix are contiguous, columns are not", "[tensor][small]") {
    const Layout matrix = row_major({4, 6});
    CHECK(is_contiguous(rows(matrix, 1, 3).layout));  // whole rows are contiguous
    CHECK(is_contiguous(row(matrix, 2).layout));
    CHECK_FALSE(is_contiguous(columns(matrix, 0, 3).layout));  // though its last stride is 1
    CHECK(columns(matrix, 0, 3).layout.strides == Strides{6, 1});
    CHECK_FALSE(is_contiguous(column(matrix, 2).layout));
    CHECK(is_contiguous(columns(matrix, 0, 6).layout));
    CHECK_FALSE(is_contiguous(slice(matrix, 0, 0, 4, 2).layout));
    CHECK(is_contiguous(slice(matrix, 0, 0, 2, 2).layout));  // one row: its stride is never used
    CHECK_FALSE(is_contiguous(transpose(matrix)));
    CHECK(is_contiguous(transpose(transpose(matrix))));
    CHECK_FALSE(is_contiguous(flip(matrix, 0).layout));
    CHECK_FALSE(is_contiguous(flip(matrix, 1).layout));
    CHECK_FALSE(is_contiguous(broadcast_to(matrix, {2, 4, 6})));
    CHECK(is_contiguous(broadcast_to(matrix, {1, 4, 6})));
    CHECK(is_contiguous(unsqueeze(matrix, 1)));
    CHECK_FALSE(is_contiguous(windows(matrix, 1, 3, 1)));
    CHECK(is_contiguous(windows(matrix, 1, 3, 3)));
    CHECK(is_contiguous(slice(matrix, 1, 3, 3).layout));  // an empty view has no gaps
    // A row or a column vector, transposed, has the same offsets.
    CHECK(is_contiguous(transpose(row_major({1, 6}))));
    CHECK(is_contiguous(transpose(row_major({6, 1}))));
}

// docs/cutlass_and_blackwell.md lists these beside what CuTe computes.
TEST_CASE("a 4 x 6 tile, its parts, and the same tile as three panels", "[tensor][small]") {
    const Layout matrix = row_major({4, 6});
    CHECK(offset(matrix, 2, 3) == 15);
    CHECK(unravel(14, matrix.shape) == Index{2, 2});
    CHECK(select(matrix, 0, 2).first == 12);
    CHECK(equivalent(select(matrix, 0, 2).layout, Layout({6}, {1})));
    CHECK(slice(matrix, 0, 1, 3).first == 6);
    CHECK(equivalent(slice(matrix, 0, 1, 3).layout, Layout({2, 6}, {6, 1})));
    CHECK(tiles_per_dim(matrix.shape, {2, 3}) == Dims{2, 2});
    CHECK(tile(matrix, {2, 3}, {1, 1}).first == 15);
    CHECK(equivalent(tile(matrix, {2, 3}, {1, 1}).layout, Layout({2, 3}, {6, 1})));
    CHECK(equivalent(transpose(matrix), Layout({6, 4}, {1, 6})));
    CHECK(equivalent(simplify(matrix)[0], Layout({24}, {1})));
    const Layout panels({4, 3, 2}, {2, 8, 1});  // row, panel, column of the panel
    CHECK(offset(panels, 2, 1, 1) == 13);       // column 3
    CHECK(rejection([&] {
              (void)reshape(panels, {4, 6});
          }) ==
          "reshape of shape (4, 3, 2), strides (2, 8, 1) to (4, 6): no single stride "
          "describes dims 1 and 2; copy first");
}

TEST_CASE("splitting channels into heads and merging them needs no copy", "[tensor][small]") {
    const std::int64_t B = 2, T = 5, H = 3, D = 4;
    const Layout x = row_major({B, T, H * D});
    const Layout heads = permute(reshape(x, {B, T, H, D}), {0, 2, 1, 3});  // (B, H, T, D)
    CHECK(heads.shape == Shape{B, H, T, D});
    CHECK(heads.strides == Strides{T * H * D, D, H * D, 1});
    CHECK(reshape_would_copy(heads, {B, H, T * D}));
    CHECK(rejection([&] {
              (void)reshape(heads, {B * H, T, D});
          }) ==
          "reshape of shape (2, 3, 5, 4), strides (60, 4, 12, 1) to (6, 5, 4): no single "
          "stride describes dims 0 and 1; copy first");
    CHECK(equivalent(reshape(permute(heads, {0, 2, 1, 3}), {B, T, -1}), x));
}

TEST_CASE("a view's pointer is the address of its first element", "[tensor][small]") {
    Tensor<int> tensor({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
    const View<int> v = tensor.view();
    CHECK(slice(v, 1, 1, 4, 2)(2, 1) == 23);
    CHECK(select(v, -1, 3)(2) == 23);
    CHECK(flip(v, 0)(0, 1) == 21);
    CHECK(flip(flip(v, 0), 1)(0, 0) == 23);
    CHECK(rows(v, 1, 3)(0, 2) == 12);
    CHECK(columns(v, 2, 4)(1, 0) == 12);
    CHECK(row(v, 2)(1) == 21);
    CHECK(column(v, 2)(1) == 12);
    CHECK(tile(v, {2, 3}, {1, 1})(0, 0) == 23);
    CHECK(transpose(v)(3, 1) == 13);
    CHECK(transpose(v, 0, 1)(3, 1) == 13);
    CHECK(permute(v, {1, 0})(3, 1) == 13);
    CHECK(unsqueeze(v, 0)(0, 1, 3) == 13);
    CHECK(squeeze(unsqueeze(v, 0))(1, 3) == 13);
    CHECK(squeeze(unsqueeze(v, 1), 1)(1, 3) == 13);
    CHECK(reshape(v, {2, -1})(1, 0) == 12);
    CHECK(broadcast_to(row(v, 1), {5, 4})(4, 3) == 13);
    CHECK(windows(v, 1, 2, 1)(1, 2, 1) == 13);
    // Writing through a view writes the tensor; a read-only view stays read-only.
    column(v, 1)(2) = 7;
    CHECK(tensor(2, 1) == 7);
    const View<const int> reader = v;
    CHECK(std::is_same_v<decltype(flip(reader, 0)), View<const int>>);
}

TEST_CASE("an empty slice keeps the pointer instead of moving it past the allocation",
          "[tensor][small]") {
    Tensor<int> tensor({3, 4});
    const View<int> v = tensor.view();
    for (std::int64_t at = 0; at <= 3; ++at) {
        CHECK(slice(v, 0, at, at).data == v.data);
        CHECK(slice(v, 0, at, at).layout.shape == Shape{0, 4});
        CHECK(select(slice(v, 0, at, at), 1, 3).data == v.data);
        CHECK(flip(slice(v, 0, at, at), 1).data == v.data);
    }
    const View<int> nothing(nullptr, Shape{0, 4});
    CHECK(columns(nothing, 2, 4).data == nullptr);
    CHECK(reshape(nothing, {7, 0, 2}).layout.shape == Shape{7, 0, 2});
}

// --- rejected arguments --------------------------------------------------------------------------

TEST_CASE("invalid slices, tiles and windows are rejected with their values", "[tensor][small]") {
    const Layout v = row_major({3, 4});
    const auto words = [](const auto& call) { return rejection(call); };
    CHECK(words([&] { (void)slice(v, 1, 2, 9); }) == "slice [2, 9) of dim 1, whose extent is 4");
    CHECK(words([&] { (void)slice(v, 1, -1, 2); }) == "slice [-1, 2) of dim 1, whose extent is 4");
    CHECK(words([&] { (void)slice(v, -1, 3, 2); }) == "slice [3, 2) of dim 1, whose extent is 4");
    CHECK(words([&] { (void)slice(v, 0, 0, 3, 0); }) ==
          "slice with step 0; a step is at least 1, and flip() goes back");
    CHECK(words([&] { (void)slice(v, 2, 0, 1); }) ==
          "slice: dim 2 asked for, but a tensor of rank 2 has dims 0 to 1, or -2 to -1 from the "
          "back");
    CHECK(words([&] { (void)flip(v, -3); }) ==
          "flip: dim -3 asked for, but a tensor of rank 2 has dims 0 to 1, or -2 to -1 from the "
          "back");
    CHECK(words([&] { (void)select(Layout(), 0, 0); }) ==
          "select: dim 0 asked for, but a tensor of rank 0 has none");
    CHECK(words([&] { (void)select(v, 0, 3); }) == "select: index 3 of dim 0, whose extent is 3");
    CHECK(words([&] { (void)select(v, 0, -1); }) == "select: index -1 of dim 0, whose extent is 3");
    CHECK(words([&] { (void)rows(row_major({3}), 0, 1); }) ==
          "rows: shape (3) is not a matrix, it has 1 dims");
    CHECK(words([&] { (void)columns(v, 2, 5); }) == "slice [2, 5) of dim 1, whose extent is 4");
    CHECK(words([&] {
              (void)row(row_major({3, 4, 5}), 0);
          }) == "row: shape (3, 4, 5) is not a matrix, it has 3 dims");
    CHECK(words([&] { (void)column(Layout(), 0); }) ==
          "column: shape () is not a matrix, it has 0 dims");
    CHECK(
        words([&] {
            (void)tile(v, {2, 3}, {1, 2});
        }) ==
        "tile (1, 2) asked for, but tiles of shape (2, 3) cover shape (3, 4) with (2, 2) of them");
    CHECK(words([&] {
              (void)tile(v, {2, 3}, Index{1});
          }) ==
          "tile (1) asked for, but tiles of shape (2, 3) cover shape (3, 4) with (2, 2) of them");
    CHECK(rejection([&] { (void)tile(v, {2, 3}, {0, -1}); }) != "");
    CHECK(words([&] {
              (void)tiles_per_dim({3, 4}, Shape{2});
          }) == "tiles of shape (2) cannot cover shape (3, 4); the ranks must be equal");
    CHECK(words([&] {
              (void)tiles_per_dim({3, 4}, {2, 0});
          }) == "tiles of shape (2, 0): extent 0 of dim 1 is below 1");
    CHECK(words([&] { (void)windows(v, 1, 5, 1); }) ==
          "windows of 5 elements along dim 1, whose extent is 4");
    CHECK(words([&] { (void)windows(v, 1, 0, 1); }) ==
          "windows of 0 elements along dim 1, whose extent is 4");
    CHECK(words([&] { (void)windows(v, 1, 2, 0); }) == "windows with step 0; a step is at least 1");
}

TEST_CASE("invalid permutations, reshapes and broadcasts are rejected", "[tensor][small]") {
    const Layout v = row_major({3, 4}), eight = row_major(Dims::filled(8, 2));
    const auto words = [](const auto& call) { return rejection(call); };
    CHECK(words([&] { (void)transpose(row_major({3})); }) ==
          "transpose of shape (3): two dims are needed");
    const auto by = [](const char* order) {
        return "permute of shape (3, 4) by " + std::string(order) +
               ": each of its 2 dims is needed exactly once";
    };
    CHECK(words([&] { (void)permute(v, {0, 0}); }) == by("(0, 0)"));
    CHECK(words([&] { (void)permute(v, {1, -1}); }) == by("(1, -1)"));
    CHECK(words([&] { (void)permute(v, Dims{0}); }) == by("(0)"));
    CHECK(words([&] { (void)permute(v, {0, 1, 2}); }) == by("(0, 1, 2)"));
    CHECK(words([&] { (void)permute(v, {INT64_MIN, INT64_MAX}); }) != "");
    CHECK(words([&] { (void)squeeze(v, 1); }) ==
          "squeeze of dim 1 of shape (3, 4): its extent is 4, not 1");
    const char* full =
        " of shape (2, 2, 2, 2, 2, 2, 2, 2) would add a dim, but it has 8, and more "
        "a tensor here cannot have";
    CHECK(words([&] { (void)unsqueeze(eight, 0); }) == std::string("unsqueeze") + full);
    CHECK(words([&] { (void)windows(eight, 0, 1, 1); }) == std::string("windows") + full);
    const auto reshaping = [](const char* rest) {
        return "reshape of shape (3, 4), strides (4, 1) to " + std::string(rest);
    };
    CHECK(words([&] {
              (void)reshape(v, {5, 2});
          }) == reshaping("(5, 2): that is 12 elements, which cannot fill 10"));
    CHECK(words([&] {
              (void)reshape(v, {5, -1});
          }) == reshaping("(5, -1): that is 12 elements, which 5 does not divide"));
    CHECK(words([&] {
              (void)reshape(v, {-1, -1});
          }) == reshaping("(-1, -1): only one extent may be -1"));
    CHECK(words([&] {
              (void)reshape(v, {0, -1});
          }) == reshaping("(0, -1): beside an extent of 0, -1 could be any number"));
    CHECK(words([&] {
              (void)reshape(v, {-2, 6});
          }) == "shape (-2, 6): the extent of dim 0 is -2, and an extent cannot be negative");
    CHECK(words([&] { (void)reshape(transpose(v), Shape{12}); }) ==
          "reshape of shape (4, 3), strides (1, 4) to (12): no single stride describes dims "
          "0 and 1; copy first");
    // Rejected for another reason, not because it needs a copy.
    CHECK(words([&] {
              (void)reshape_would_copy(v, {5, 2});
          }) == reshaping("(5, 2): that is 12 elements, which cannot fill 10"));
    CHECK(words([&] {
              (void)broadcast_to(v, {3, 5});
          }) ==
          "broadcast of shape (3, 4) to (3, 5): dim 1 has extent 4, not 5, and only an extent of 1 "
          "can be repeated");
    CHECK(words([&] { (void)broadcast_to(v, Shape{4}); }) ==
          "broadcast of shape (3, 4) to (4): a broadcast adds dims and drops none");
    CHECK(words([&] {
              (void)broadcast_shapes({3, 4}, {3});
          }) ==
          "shapes (3, 4) and (3) cannot be broadcast together: extents 4 and 3 differ, and neither "
          "is 1");
}

TEST_CASE("rank 8 can be sliced, permuted, flipped and reshaped", "[tensor][small]") {
    const Layout v = row_major({2, 3, 1, 2, 2, 1, 3, 2});
    CHECK(select(v, 7, 1).layout.rank() == 7);
    CHECK(select(v, 7, 1).first == 1);
    CHECK(slice(v, 6, 1, 3).first == 2);
    CHECK(flip(v, 0).first == 72);
    CHECK(permute(v, {7, 6, 5, 4, 3, 2, 1, 0}).shape == Shape{2, 3, 1, 2, 2, 1, 3, 2});
    CHECK(permute(v, {7, 6, 5, 4, 3, 2, 1, 0}).strides[7] == 72);
    CHECK(equivalent(reshape(v, {-1, 36}), row_major({4, 36})));
    CHECK(equivalent(squeeze(v), row_major({2, 3, 2, 2, 3, 2})));
    CHECK(broadcast_to(row_major({2}), v.shape).strides[7] == 1);
    CHECK(unsqueeze(select(v, 0, 0).layout, -1).rank() == 8);
}

TEST_CASE("views with strides near 2^63 do not overflow", "[tensor][small]") {
    const std::int64_t huge = std::int64_t{1} << 62;
    const Layout two({2}, {huge});
    CHECK(slice(two, 0, 1, 2, 2).first == huge);
    CHECK(slice(two, 0, 0, 2, INT64_MAX).layout.extent(0) == 1);
    CHECK(flip(two, 0).layout.strides == Strides{-huge});
    CHECK(reshape(two, {1, 2}).strides[1] == huge);
    CHECK(windows(two, 0, 1, 1).strides == Strides{huge, huge});
    CHECK(windows(two, 0, 2, INT64_MAX).extent(0) == 1);
    CHECK(reshape_would_copy(Layout({2, 2}, {0, huge}), Shape{4}));  // 2 * 2^62: over 64 bits
    const Layout wild({1, 2}, {INT64_MIN, 1});
    CHECK(flip(wild, 0).first == 0);
    CHECK(equivalent(reshape(wild, Shape{2}), row_major({2})));
    CHECK(rejection([] { (void)broadcast_to(Layout(), {huge, 2}); }) != "");
    // 2^39 + 1 windows of 2^39 elements: the number of elements exceeds 64 bits.
    const Layout line = row_major({std::int64_t{1} << 40});
    CHECK(rejection([&] { (void)windows(line, 0, std::int64_t{1} << 39, 1); }) != "");
}
