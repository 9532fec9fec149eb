// The proof of the set `combine`. Loops against answers from outside the code, ports against loops,
// over every element.
#include <cmath>
#include <cstring>
#include <limits>

#include "common/gpu/device.hpp"
#include "common/gpu/error.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/walk_for_tests.hpp"
#include "common/testing/testing.hpp"
#include "day03_views/combine.hpp"
#include "day03_views/combine_convert.hpp"
#include "day03_views/combine_fill.hpp"
#include "day03_views/combine_rows.hpp"
#include "day03_views/combine_walk.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;
using Ids = Tensor<std::int64_t>;

namespace {

std::string last_kernel() {
    return gpu::last_kernel();
}

// All orders and directions of a shape's dims in memory, some with room behind every dim.
std::vector<Layout> layouts_of(const Shape& shape) {
    std::vector<Layout> layouts;
    for (const std::int64_t pad : {0, 1}) {
        walk::for_each_packing(shape.rank, pad, [&](const walk::Packing& packing) {
            layouts.push_back(Layout(shape, walk::strides_of(packing, shape)));
        });
    }
    return layouts;
}

// add_broadcast over inputs and an output of these layouts: the loop must give what it gives for
// row-major inputs, and the port what the loop gives.
void check_add(const Tensor<float>& a, const Layout& la, const Tensor<float>& b, const Layout& lb,
               const Layout& out, Lead lead = {}) {
    CAPTURE(to_string(la), to_string(lb), to_string(out), lead.elements);
    HostOut<float> want(out);
    add_broadcast_cpu(a.view(), b.view(), want.view());
    HostIn<float> ha(a, la), hb(b, lb);
    HostOut<float> strided(out);
    add_broadcast_cpu(ha.view(), hb.view(), strided.view());
    CHECK(strided.matches(want));
    DeviceIn<float> da(a, la, lead), db(b, lb, lead);
    DeviceOut<float> got(out, lead);
    add_broadcast_cuda(da.view(), db.view(), got.view());
    CHECK(got.matches(want));
    CHECK(da.unchanged());
    CHECK(db.unchanged());
}
void check_add(const Shape& a, const Shape& b, const Layout& out, Lead lead = {}) {
    check_add(distinct<float>(a), row_major(a), distinct<float>(b, 7), row_major(b), out, lead);
}

}  // namespace

// --- walks ---------------------------------------------------------------------------------------

TEST_CASE("a Walk finds the offsets that unravel and strides give", "[day03][walk][small]") {
    walk::Cases cases;
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{5, 1, 2, 3},
                               Shape{2, 3, 1, 2, 2}, Shape{2, 1, 3, 2, 1, 2, 2, 3}}) {
        const Layout rows = row_major(shape), columns = column_major(shape);
        with_rank(shape.rank, [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 2> walk({rows, columns});
            cases.expect(walk.size == static_cast<std::uint32_t>(size(shape)), rows);
            for (std::uint32_t k = 0; k < walk.size; ++k) {
                const Offsets<2> at = walk.offsets(k);
                cases.expect(at.of[0] == k, rows);
                cases.expect(at.of[1] == offset(columns, unravel(k, shape)), columns);
            }
        });
    }
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 7 + 2 * (1 + 7 + 15 + 24 + 30 + 24 + 144));
    // Offsets beyond 32 bits, from numbers within.
    const std::int64_t far = std::int64_t{1} << 40;
    const Walk<2, 1> wide({Layout({1 << 15, (1 << 16) - 1}, {far, -far})});
    CHECK(wide.offsets(wide.size - 1).of[0] == far * ((1 << 15) - 1) - far * ((1 << 16) - 2));
}

TEST_CASE("a large tensor is cut into small pieces that are all of it", "[day03][walk][small]") {
    for (const Shape& shape : {Shape{}, Shape{17}, Shape{5, 7}, Shape{1, 31, 2}, Shape{3, 3, 3}}) {
        for (const std::int64_t limit : {2, 3, 5, 8, 100}) {
            CAPTURE(to_string(shape), limit);
            Tensor<int> times(shape);
            const auto visit = [&](View<int> piece, const Cut& numbers) {
                CHECK(piece.size() < limit);
                CHECK(piece.size() > 0);
                for (const Index& i : walk::indices_of(piece.layout.shape)) {
                    ++piece(i);
                    const std::int64_t number = numbers.first + offset(numbers.layout, i);
                    CHECK(&piece(i) == times.data() + number);
                }
            };
            in_pieces(limit, visit, times.view(), Cut{row_major(shape)});
            for (std::int64_t k = 0; k < times.size(); ++k) CHECK(times.data()[k] == 1);
        }
    }
}

// --- add_broadcast -------------------------------------------------------------------------------

TEST_CASE("a bias is added to rows, to columns, to everything: worked by hand",
          "[day03][add_broadcast][small]") {
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto both = [](const Tensor<float>& x, const Tensor<float>& y, const Tensor<float>& sum) {
        HostOut<float> want(sum.shape());
        add_broadcast_cpu(x.view(), y.view(), want.view());
        CHECK(want.matches(sum));
        DeviceIn<float> dx(x), dy(y);
        DeviceOut<float> got(sum.shape());
        add_broadcast_cuda(dx.view(), dy.view(), got.view());
        CHECK(got.matches(sum));
    };
    const Tensor<float> row(Shape{3}, {10, 20, 30}), column({2, 1}, {100, 200});
    const Tensor<float> all(Shape{}, {0.5f});
    both(a, row, Tensor<float>({2, 3}, {11, 22, 33, 14, 25, 36}));
    both(row, a, Tensor<float>({2, 3}, {11, 22, 33, 14, 25, 36}));
    both(a, column, Tensor<float>({2, 3}, {101, 102, 103, 204, 205, 206}));
    both(a, all, Tensor<float>({2, 3}, {1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f}));
    both(column, row, Tensor<float>({2, 3}, {110, 120, 130, 210, 220, 230}));
    both(row, all, Tensor<float>({2, 3}, {10.5f, 20.5f, 30.5f, 10.5f, 20.5f, 30.5f}));
    both(all, all, Tensor<float>(Shape{}, {1}));
}

TEST_CASE("every broadcast of small shapes adds the elements that belong together",
          "[day03][add_broadcast][small]") {
    std::int64_t cases = 0;
    walk::for_each_shape(3, 3, [&](const Shape& shape) {
        for (unsigned ones = 0; ones < 1u << shape.rank; ++ones) {
            for (int dropped = 0; dropped <= shape.rank; ++dropped) {
                Shape small = Dims::filled(shape.rank - dropped, 1);
                for (int d = dropped; d < shape.rank; ++d) {
                    if ((ones >> d & 1) == 0) small[d - dropped] = shape[d];
                }
                if (dropped > 0 && (ones & ((1u << dropped) - 1)) != 0) continue;
                CAPTURE(to_string(shape), to_string(small));
                const Tensor<float> a = distinct<float>(shape), b = distinct<float>(small, 101);
                // Said without strides: which element of b an index of out means.
                Tensor<float> sum(shape);
                for (const Index& i : walk::indices_of(shape)) {
                    Index in_b = small;
                    for (int d = 0; d < small.rank; ++d) {
                        in_b[d] = small[d] == 1 ? 0 : i[dropped + d];
                    }
                    const std::int64_t k = ravel(i, shape);
                    sum.data()[k] = a.data()[k] + b.data()[ravel(in_b, small)];
                }
                HostOut<float> want(shape);
                add_broadcast_cpu(a.view(), b.view(), want.view());
                CHECK(want.matches(sum));
                DeviceIn<float> da(a), db(b);
                DeviceOut<float> got(shape);
                add_broadcast_cuda(db.view(), da.view(), got.view());
                CHECK(got.matches(sum));
                ++cases;
            }
        }
    });
    CHECK(cases > 800);
}

TEST_CASE("add_broadcast takes every order and direction of dims, pitched too",
          "[day03][add_broadcast][small]") {
    const Shape shape{2, 3, 5};
    const Tensor<float> a = distinct<float>(shape), b = distinct<float>({3, 1}, 101);
    for (const Layout& layout : layouts_of(shape)) {
        check_add(a, row_major(shape), b, row_major({3, 1}), layout);
        check_add(a, layout, b, Layout({3, 1}, {-2, 9}), row_major(shape));
    }
    const Shape quads{3, 4, 8};
    const Tensor<float> c = distinct<float>(quads), d = distinct<float>(Shape{8}, 101);
    for (const Layout& layout : layouts_of(quads)) {
        check_add(c, layout, d, row_major(Shape{8}), layout);
    }
}

TEST_CASE("add_broadcast takes the sizes around its blocks, by both paths",
          "[day03][add_broadcast][small]") {
    for (const std::int64_t n :
         {1, 3, 4, 5, 255, 256, 257, 1020, 1021, 1023, 1024, 1025, 4096, 4099, 8196}) {
        for (const std::int64_t lead : {0, 1}) {
            check_add({n}, {n}, row_major({n}), {lead});
            check_add({3, n}, {n}, row_major({3, n}), {lead});
            check_add({3, n}, {3, 1}, row_major({3, n}), {lead});
            check_add({n, 3}, {}, row_major({n, 3}), {lead});
        }
    }
    check_add({1027, 8}, {8}, row_major({1027, 8}));
    check_add({1027, 8}, {1027, 1}, row_major({1027, 8}));
    check_add({2, 3, 16, 16}, {2, 1, 1, 16}, row_major({2, 3, 16, 16}));  // a mask for all heads
    check_add({2, 1, 16, 16}, {3, 1, 16}, row_major({2, 3, 16, 16}));     // both repeat
    check_add({2, 1, 2, 1, 2, 1, 2, 4}, {3, 1, 3, 1, 3, 1, 4}, row_major({2, 3, 2, 3, 2, 3, 2, 4}));
    check_add({2, 1, 2, 1, 2, 1, 2, 5}, {3, 1, 3, 1, 3, 1, 5}, row_major({2, 3, 2, 3, 2, 3, 2, 5}));
    check_add({0, 4}, {4}, row_major({0, 4}));
    check_add({1, 4}, {4}, row_major({0, 4}));
}

TEST_CASE("add_broadcast equals its loop on a million elements", "[day03][add_broadcast][full]") {
    check_add({1024, 1028}, {1028}, row_major({1024, 1028}));
    check_add({1021, 1031}, {1031}, row_major({1021, 1031}));
    check_add({64, 4, 4096}, {4, 1}, row_major({64, 4, 4096}));
}

TEST_CASE("add_broadcast takes 16 bytes at once exactly where every row allows it",
          "[day03][add_broadcast][small]") {
    alignas(16) static float memory[4][4096];
    const auto path = [&](const Layout& a, const Layout& b, const Layout& out, int lead_a = 0,
                          int lead_b = 0, int lead_out = 0) {
        return choose_add_broadcast({memory[0] + 1024 + lead_a, a}, {memory[1] + 1024 + lead_b, b},
                                    {memory[2] + 1024 + lead_out, out});
    };
    const Layout matrix = row_major({8, 12});
    const auto quads = AddBroadcastPath::quads, any = AddBroadcastPath::any_layout;
    CHECK(path(matrix, matrix, matrix) == quads);
    CHECK(path(matrix, row_major(Shape{12}), matrix) == quads);
    CHECK(path(matrix, row_major({8, 1}), matrix) == quads);
    CHECK(path(matrix, Layout(), matrix) == quads);
    CHECK(path(matrix, row_major({8, 1}), matrix, 0, 1) == quads);  // one place needs no alignment
    CHECK(path(matrix, row_major(Shape{12}), matrix, 0, 1) == any);
    CHECK(path(matrix, matrix, matrix, 1, 0, 0) == any);
    CHECK(path(matrix, matrix, matrix, 0, 0, 2) == any);
    CHECK(path(matrix, matrix, matrix, 1, 1, 1) == any);  // alike, but not at a multiple of 16
    CHECK(path(matrix, row_major(Shape{12}), Layout({8, 12}, {16, 1})) == quads);
    CHECK(path(matrix, row_major(Shape{12}), Layout({8, 12}, {14, 1})) == any);
    CHECK(path(matrix, row_major(Shape{12}), Layout({8, 12}, {-16, 1})) == quads);
    CHECK(path(matrix, matrix, Layout({8, 12}, {16, -1})) == any);
    CHECK(path(matrix, Layout({8, 12}, {24, 2}), matrix) == any);
    // 7 x 12 and 3 x 28 walk the same memory; with rows of 7 there are no quads but in one run.
    CHECK(path(row_major({8, 7}), row_major({8, 7}), row_major({8, 7})) == quads);
    CHECK(path(row_major({8, 7}), row_major(Shape{7}), row_major({8, 7})) == any);
    // Columns along memory in both: the order of dims is no matter.
    CHECK(path(column_major({12, 8}), row_major({12, 1}), column_major({12, 8})) == quads);
    CHECK(path(row_major({12, 8}), row_major({12, 1}), column_major({12, 8})) == any);
    CHECK(path(Layout(), Layout(), Layout()) == any);

    const Tensor<float> a = distinct<float>({8, 12}), b = distinct<float>(Shape{12}, 7);
    DeviceIn<float> da(a), db(b), db1(b, Lead{1});
    DeviceOut<float> got({8, 12});
    add_broadcast_cuda(da.view(), db.view(), got.view());
    CHECK(last_kernel() == "add_quads_kernel");
    add_broadcast_cuda(da.view(), db1.view(), got.view());
    CHECK(last_kernel() == "add_broadcast_kernel");
}

TEST_CASE("add_broadcast works in place, and refuses what would be overwritten too early",
          "[day03][add_broadcast][small]") {
    const Tensor<float> a = distinct<float>({5, 8}), b = distinct<float>(Shape{8}, 101);
    HostOut<float> want({5, 8});
    add_broadcast_cpu(a.view(), b.view(), want.view());
    HostOut<float> here = HostOut<float>::holding(a);
    add_broadcast_cpu(here.view(), b.view(), here.view());
    CHECK(here.matches(want));
    DeviceIn<float> db(b);
    DeviceOut<float> there = DeviceOut<float>::holding(a);
    add_broadcast_cuda(there.view(), db.view(), there.view());
    CHECK(there.matches(want));

    const auto refused = [&](const auto& call, const char* words) {
        HostOut<float> h = HostOut<float>::holding(a);
        DeviceOut<float> d = DeviceOut<float>::holding(a);
        CHECK(both_refuse(
            [&] { call(h.view(), [](auto x, auto y, auto z) { add_broadcast_cpu(x, y, z); }); },
            [&] { call(d.view(), [](auto x, auto y, auto z) { add_broadcast_cuda(x, y, z); }); },
            words));
        CHECK(h.untouched());
        CHECK(d.untouched());
    };
    const char* early = "overlap without being the same tensor";
    refused([](View<float> v, auto add) { add(v, row(v, 0), v); }, early);  // its own first row
    refused([](View<float> v, auto add) { add(v, columns(v, 3, 4), v); }, early);
    refused([](View<float> v, auto add) { add(v, flip(v, 0), v); }, early);
    refused(
        [](View<float> v, auto add) {
            const View<float> square = columns(v, 0, 5);
            add(square, transpose(square), square);  // A += A^T
        },
        early);
    refused(
        [](View<float> v, auto add) {
            const View<float> all = broadcast_to(row(v, 0), {3, 8});
            add(v, v, all);
        },
        "where two indices may share one place; writers of it would race");
    refused([](View<float> v, auto add) { add(rows(v, 0, 2), rows(v, 2, 4), rows(v, 0, 3)); },
            "add_broadcast: a: broadcast of shape (2, 8) to (3, 8): dim 0 has extent 2, not 3");
    refused([](View<float> v, auto add) { add(v, View<float>(nullptr, Shape{8}), v); },
            "add_broadcast: b is a null pointer, but its shape (8) has 8 elements");
    refused([](View<float> v, auto add) { add(v, v, View<float>(nullptr, v.layout)); },
            "add_broadcast: out is a null pointer");
}

TEST_CASE("adding a bias wastes no sector", "[day03][add_broadcast][small]") {
    DeviceIn<float> a(distinct<float>({16, 512})), b(distinct<float>(Shape{512}, 7));
    DeviceOut<float> out({16, 512});
    const auto touched = gpu::touched([&] { add_broadcast_cuda(a.view(), b.view(), out.view()); });
    CHECK(touched.has_value() == gpu::is_emulated());
    if (!touched) return;
    // 16 * 512 floats three times, 4 floats a lane: 64 warps, each with one request a tensor.
    CHECK(touched->requests == 3 * 16 * 512 / 4 / 32);
    CHECK(touched->sectors == 3 * 16 * 512 / 8);
    CHECK(touched->sectors == touched->fewest_sectors);
}

// --- where ---------------------------------------------------------------------------------------

TEST_CASE("where chooses, and what is not chosen leaves no trace", "[day03][where][small]") {
    const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
    const Tensor<std::uint8_t> mask({2, 3}, {1, 0, 2, 0, 255, 0});
    const Tensor<float> a({2, 3}, {1, nan, 3, inf, 5, nan}), b(Shape{3}, {nan, 20, 30});
    const Tensor<float> answer({2, 3}, {1, 20, 3, nan, 5, 30});
    HostOut<float> want({2, 3}, {}, Poison{0x55});
    where_cpu(mask.view(), a.view(), b.view(), want.view());
    CHECK(want.matches(answer));
    DeviceIn<std::uint8_t> dm(mask);
    DeviceIn<float> da(a), db(b);
    DeviceOut<float> got({2, 3}, {}, Poison{0x55});
    where_cuda(dm.view(), da.view(), db.view(), got.view());
    CHECK(got.matches(answer));
    CHECK(last_kernel() == "where_kernel");
}

namespace {

void check_where_port(const Tensor<std::uint8_t>& mask, const Shape& a_shape, const Shape& b_shape,
                      const Layout& out) {
    CAPTURE(to_string(mask.shape()), to_string(a_shape), to_string(b_shape), to_string(out));
    const Tensor<float> a = distinct<float>(a_shape), b = distinct<float>(b_shape, 101);
    HostOut<float> want(out);
    where_cpu(mask.view(), a.view(), b.view(), want.view());
    // A second formula: multiply by 0 or 1, and add. Distinct whole numbers stay exact.
    Tensor<float> second(out.shape);
    const auto m = broadcast_to(mask.view(), out.shape);
    const auto va = broadcast_to(a.view(), out.shape), vb = broadcast_to(b.view(), out.shape);
    for (const Index& i : walk::indices_of(out.shape)) {
        const float one = m(i) != 0 ? 1.0f : 0.0f;
        second.view()(i) = one * va(i) + (1 - one) * vb(i);
    }
    CHECK(want.matches(second));
    DeviceIn<std::uint8_t> dm(mask);
    DeviceIn<float> da(a), db(b);
    DeviceOut<float> got(out);
    where_cuda(dm.view(), da.view(), db.view(), got.view());
    CHECK(got.matches(want));
    CHECK(dm.unchanged());
    CHECK(da.unchanged());
    CHECK(db.unchanged());
}

}  // namespace

TEST_CASE("where takes any layout and broadcasts all three", "[day03][where][small]") {
    const auto mask = [](const Shape& shape) {
        return seeded_integers<std::uint8_t>(shape, 5, 0, 1);
    };
    for (const Layout& out : layouts_of({2, 3, 4})) {
        check_where_port(mask({3, 1}), {2, 3, 4}, Shape{4}, out);
        check_where_port(mask({2, 3, 4}), {2, 1, 1}, {}, out);
    }
    for (const std::int64_t n : {0, 1, 31, 255, 256, 257, 1031}) {
        check_where_port(mask({3, n}), {3, n}, {3, 1}, row_major({3, n}));
        check_where_port(mask({n}), {5, 1}, {1, n}, row_major({5, n}));
    }
    check_where_port(mask({2, 1, 2, 1, 2, 1, 2, 3}), {3, 1, 3, 1, 3, 1, 3}, {},
                     row_major({2, 3, 2, 3, 2, 3, 2, 3}));
}

TEST_CASE("where refuses what add_broadcast does", "[day03][where][small]") {
    const Tensor<std::uint8_t> mask({2, 3});
    const Tensor<float> a({2, 3}), b({2, 4});
    DeviceIn<std::uint8_t> dm(mask);
    DeviceIn<float> da(a), db(b);
    HostOut<float> h({2, 3});
    DeviceOut<float> d({2, 3});
    CHECK(both_refuse([&] { where_cpu(mask.view(), a.view(), b.view(), h.view()); },
                      [&] { where_cuda(dm.view(), da.view(), db.view(), d.view()); },
                      "where: b: broadcast of shape (2, 4) to (2, 3)"));
    const View<std::uint8_t> bytes_h(reinterpret_cast<std::uint8_t*>(h.view().data), Shape{2, 3});
    const View<std::uint8_t> bytes_d(reinterpret_cast<std::uint8_t*>(d.view().data), Shape{2, 3});
    CHECK(both_refuse([&] { where_cpu(bytes_h, a.view(), a.view(), h.view()); },
                      [&] { where_cuda(bytes_d, da.view(), da.view(), d.view()); },
                      "where: mask and out overlap"));
    const Layout twice({2, 3}, {1, 1});
    CHECK(both_refuse(
        [&] {
            where_cpu(mask.view(), a.view(), a.view(), {h.view().data, twice});
        },
        [&] {
            where_cuda(dm.view(), da.view(), da.view(), {d.view().data, twice});
        },
        "writers of it would race"));
    CHECK(h.untouched());
    CHECK(d.untouched());
}

// --- concat --------------------------------------------------------------------------------------

namespace {

void check_concat_both(const std::vector<Tensor<float>>& pieces, int dim, const Layout& out,
                       const Tensor<float>& answer, std::int64_t lead = 0) {
    CAPTURE(dim, to_string(out));
    std::vector<View<const float>> host, device;
    std::vector<DeviceIn<float>> inputs;
    for (const Tensor<float>& piece : pieces) {
        host.push_back(piece.view());
        inputs.emplace_back(piece, column_major(piece.shape()), Lead{lead});
    }
    for (const auto& input : inputs) device.push_back(input.view());
    HostOut<float> want(out);
    concat_cpu(host, dim, want.view());
    CHECK(want.matches(answer));
    DeviceOut<float> got(out, Lead{lead});
    concat_cuda(device, dim, got.view());
    CHECK(got.matches(answer));
    for (const auto& input : inputs) CHECK(input.unchanged());
}

}  // namespace

TEST_CASE("pieces stand one behind the other, along rows and along columns",
          "[day03][concat][small]") {
    const Tensor<float> a({2, 2}, {1, 2, 3, 4}), b({1, 2}, {5, 6}), c({2, 1}, {7, 8});
    const Tensor<float> none({0, 2}), empty({2, 0});
    check_concat_both({a, b}, 0, row_major({3, 2}), Tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
    check_concat_both({b, none, a}, -2, row_major({3, 2}),
                      Tensor<float>({3, 2}, {5, 6, 1, 2, 3, 4}));
    check_concat_both({a, c}, 1, row_major({2, 3}), Tensor<float>({2, 3}, {1, 2, 7, 3, 4, 8}));
    check_concat_both({c, empty, a}, -1, column_major({2, 3}),
                      Tensor<float>({2, 3}, {7, 1, 2, 8, 3, 4}));
    check_concat_both({none, none}, 0, row_major({0, 2}), none);
}

TEST_CASE("concat puts pieces of any layout into an output of any layout",
          "[day03][concat][small]") {
    for (int dim = 0; dim < 3; ++dim) {
        Shape first{2, 3, 4}, second{2, 3, 4}, whole{2, 3, 4};
        first[dim] = 3;
        second[dim] = 2;
        whole[dim] = 5;
        const Tensor<float> a = distinct<float>(first), b = distinct<float>(second, 101);
        Tensor<float> answer(whole);
        for (const Index& i : walk::indices_of(whole)) {
            Index in_b = i;
            in_b[dim] -= 3;
            answer.view()(i) = i[dim] < 3 ? a.view()(i) : b.view()(in_b);
        }
        for (const Layout& out : layouts_of(whole)) check_concat_both({a, b}, dim, out, answer, 1);
    }
    const Tensor<float> a = distinct<float>({33, 1025});
    check_concat_both({a}, 0, row_major({33, 1025}), a);
}

TEST_CASE("concat refuses pieces that do not fit, and pieces of the output",
          "[day03][concat][small]") {
    const Tensor<float> a({2, 2}), b({1, 3}), v(Shape{2});
    DeviceIn<float> da(a), db(b), dv(v);
    HostOut<float> h({3, 2});
    DeviceOut<float> d({3, 2});
    const auto refused = [&](const std::vector<View<const float>>& host,
                             const std::vector<View<const float>>& device, int dim,
                             const char* words) {
        CHECK(both_refuse([&] { concat_cpu(host, dim, h.view()); },
                          [&] { concat_cuda(device, dim, d.view()); }, words));
    };
    refused({a.view(), b.view()}, {da.view(), db.view()}, 0,
            "concat along dim 0: piece 1 has shape (1, 3), out has (3, 2); all other extents must "
            "be equal");
    refused({a.view(), a.view()}, {da.view(), da.view()}, 0,
            "concat along dim 0: the pieces have 4 indices together, out has 3");
    refused({a.view()}, {da.view()}, 0, "the pieces have 2 indices together, out has 3");
    refused({a.view(), v.view()}, {da.view(), dv.view()}, 0, "piece 1 has shape (2) of rank 1");
    refused({}, {}, 0, "concat: there are no pieces");
    const View<const float> endless(a.data(), Layout({INT64_MAX / 2, 2}, {0, 0}));
    refused({endless, endless, endless}, {endless, endless, endless}, 0,
            "more indices together than 64 bits count");
    refused({a.view()}, {da.view()}, 2, "concat: dim 2 asked for");
    refused({rows(h.view(), 1, 3), rows(h.view(), 0, 1)},
            {rows(d.view(), 1, 3), rows(d.view(), 0, 1)}, 0, "concat: piece 0 overlaps out");
    CHECK(h.untouched());
    CHECK(d.untouched());
}

// --- rows by number ------------------------------------------------------------------------------

TEST_CASE("gather_rows reads rows by number, repeated and in any order", "[day03][rows][small]") {
    const Tensor<float> table({3, 2}, {1, 2, 10, 20, 100, 200});
    const Ids ids(Shape{4}, {2, 0, 2, 1});
    const Tensor<float> answer({4, 2}, {100, 200, 1, 2, 100, 200, 10, 20});
    HostOut<float> want({4, 2});
    gather_rows_cpu(table.view(), ids.view(), want.view());
    CHECK(want.matches(answer));
    DeviceIn<float> dt(table);
    DeviceIn<std::int64_t> di(ids);
    DeviceOut<float> got({4, 2});
    gather_rows_cuda(dt.view(), di.view(), got.view());
    CHECK(got.matches(answer));
}

namespace {

Ids shuffled(std::int64_t N, std::int64_t V) {
    Ids ids(Shape{N});  // 7 shares no factor with the V of these tests: each row at most once
    for (std::int64_t n = 0; n < N; ++n) ids(n) = (n * 7 + 3) % V;
    return ids;
}

void check_gather(const Layout& table_layout, std::int64_t N, const Layout& out, const char* kernel,
                  Lead lead = {}) {
    CAPTURE(to_string(table_layout), N, to_string(out), lead.elements);
    const Tensor<float> table = distinct<float>(table_layout.shape);
    const Ids ids = shuffled(N, table_layout.extent(0));
    HostIn<float> ht(table, table_layout);
    HostOut<float> want(out);
    gather_rows_cpu(ht.view(), ids.view(), want.view());
    for (std::int64_t n = 0; n < N && out.extent(1) > 0; ++n) {
        const std::int64_t last = out.extent(1) - 1;
        CHECK(want.view()(n, last) == table(ids(n), last));
    }
    DeviceIn<float> dt(table, table_layout, lead);
    DeviceIn<std::int64_t> di(ids, Layout({N}, {3}));
    DeviceOut<float> got(out, lead);
    gather_rows_cuda(dt.view(), di.view(), got.view());
    CHECK(got.matches(want));
    CHECK(dt.unchanged());
    CHECK(di.unchanged());
    if (out.size() > 0) CHECK(last_kernel() == kernel);
}

void check_scatter(const Layout& in_layout, std::int64_t V, const Layout& out, const char* kernel,
                   Lead lead = {}) {
    CAPTURE(to_string(in_layout), V, to_string(out), lead.elements);
    const Tensor<float> in = distinct<float>(in_layout.shape);
    const Tensor<float> before = seeded<float>(out.shape, 3, -2, -1);
    const Ids ids = shuffled(in_layout.extent(0), V);
    HostOut<float> want = HostOut<float>::holding(before, out);
    scatter_rows_cpu(in.view(), ids.view(), want.view());
    Tensor<float> answer = before;
    for (std::int64_t n = 0; n < in_layout.extent(0); ++n) {
        for (std::int64_t c = 0; c < out.extent(1); ++c) answer(ids(n), c) = in(n, c);
    }
    CHECK(want.matches(answer));
    DeviceIn<float> din(in, in_layout, lead);
    DeviceIn<std::int64_t> di(ids);
    DeviceOut<float> got = DeviceOut<float>::holding(before, out, lead);
    scatter_rows_cuda(din.view(), di.view(), got.view());
    CHECK(got.matches(want));
    CHECK(din.unchanged());
    if (in.size() > 0) CHECK(last_kernel() == kernel);
}

}  // namespace

TEST_CASE("rows by number: every length around a warp's walk, by both paths",
          "[day03][rows][small]") {
    for (const std::int64_t C :
         {0, 1, 3, 4, 31, 32, 33, 124, 127, 128, 129, 132, 508, 511, 512, 513, 516, 1031}) {
        for (const std::int64_t lead : {0, 1}) {
            const bool quads = C % 4 == 0 && lead == 0;
            check_gather(row_major({11, C}), 9, row_major({9, C}),
                         quads ? "gather_rows_kernel<float4>" : "gather_rows_kernel<float>",
                         {lead});
            check_scatter(row_major({9, C}), 11, row_major({11, C}),
                          quads ? "scatter_rows_kernel<float4>" : "scatter_rows_kernel<float>",
                          {lead});
        }
    }
    for (const std::int64_t N : {0, 1, 7, 8, 9, 16, 17}) {
        check_gather(row_major({19, 20}), N, row_major({N, 20}), "gather_rows_kernel<float4>");
        check_scatter(row_major({N, 20}), 19, row_major({19, 20}), "scatter_rows_kernel<float4>");
    }
}

TEST_CASE("rows by number: pitched, transposed, flipped and broadcast tables",
          "[day03][rows][small]") {
    const char* any = "gather_rows_kernel<float>";
    check_gather(Layout({5, 8}, {12, 1}), 6, Layout({6, 8}, {16, 1}), "gather_rows_kernel<float4>");
    check_gather(Layout({5, 8}, {10, 1}), 6, row_major({6, 8}), any);
    check_gather(column_major({5, 8}), 6, row_major({6, 8}), any);
    check_gather(row_major({5, 8}), 6, column_major({6, 8}), any);
    check_gather(Layout({5, 8}, {-8, 1}), 6, row_major({6, 8}), "gather_rows_kernel<float4>");
    check_gather(Layout({5, 8}, {8, -1}), 6, Layout({6, 8}, {-9, -1}), any);
    for (const Layout& out : layouts_of({11, 4})) {
        check_scatter(row_major({9, 4}), 11, out,
                      choose_rows({nullptr, row_major({9, 4})}, {nullptr, out}) == RowsPath::quads
                          ? "scatter_rows_kernel<float4>"
                          : "scatter_rows_kernel<float>");
    }
    check_scatter(column_major({9, 4}), 11, row_major({11, 4}), "scatter_rows_kernel<float>");
}

TEST_CASE("an id without a row is refused by the loop; the port writes NaN, or nothing",
          "[day03][rows][small]") {
    const Tensor<float> table = distinct<float>({5, 4}), in = distinct<float>({3, 4}, 7);
    for (const std::int64_t bad : {std::int64_t{5}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
        const Ids ids(Shape{3}, {4, bad, 0});
        const std::string words = "ids(1) is " + std::to_string(bad) + ", but there are 5 rows";
        HostOut<float> h({3, 4}), back = HostOut<float>::holding(table);
        CHECK(refusal([&] { gather_rows_cpu(table.view(), ids.view(), h.view()); }) ==
              "gather_rows: " + words);
        CHECK(refusal([&] { scatter_rows_cpu(in.view(), ids.view(), back.view()); }) ==
              "scatter_rows: " + words);
        CHECK(h.untouched());
        CHECK(back.untouched());

        DeviceIn<float> dt(table), din(in);
        DeviceIn<std::int64_t> di(ids);
        for (const std::int64_t lead : {0, 1}) {  // both paths
            DeviceOut<float> got({3, 4}, Lead{lead}, Poison{0x55});
            gather_rows_cuda(dt.view(), di.view(), got.view());
            const Tensor<float> rows = got.values();
            for (std::int64_t c = 0; c < 4; ++c) {
                CHECK(rows(0, c) == table(4, c));
                CHECK(std::isnan(rows(1, c)));
                CHECK(rows(2, c) == table(0, c));
            }
            CHECK(got.intact());
            DeviceOut<float> kept = DeviceOut<float>::holding(table, Lead{lead});
            scatter_rows_cuda(din.view(), di.view(), kept.view());
            Tensor<float> answer = table;
            for (std::int64_t c = 0; c < 4; ++c) {
                answer(4, c) = in(0, c);
                answer(0, c) = in(2, c);
            }
            CHECK(kept.matches(answer));
        }
    }
}

TEST_CASE("two rows for one place: the loop refuses, and the emulator sees the race",
          "[day03][rows][small]") {
    const Tensor<float> in = distinct<float>({3, 5});
    const Ids ids(Shape{3}, {2, 0, 2});
    HostOut<float> h({4, 5});
    CHECK(refusal([&] { scatter_rows_cpu(in.view(), ids.view(), h.view()); }) ==
          "scatter_rows: ids(0) and ids(2) are both 2; a row can have one writer");
    CHECK(h.untouched());
    if (!gpu::is_emulated()) return;
    DeviceIn<float> din(in);
    DeviceIn<std::int64_t> di(ids);
    DeviceOut<float> d({4, 5});
    std::string said;
    try {
        scatter_rows_cuda(din.view(), di.view(), d.view());
        gpu::synchronize();
    } catch (const gpu::Error& error) {
        said = error.what();
    }
    CHECK(contains(said, "scatter_rows_kernel<float>"));
    CHECK(contains(said, "no barrier puts that in order"));
}

TEST_CASE("rows by number refuse other shapes and overlap", "[day03][rows][small]") {
    const Tensor<float> table({5, 4});
    const Ids ids(Shape{3});
    DeviceIn<float> dt(table);
    DeviceIn<std::int64_t> di(ids);
    HostOut<float> h({3, 5}), flat(Shape{12});
    DeviceOut<float> d({3, 5}), dflat(Shape{12});
    CHECK(both_refuse([&] { gather_rows_cpu(table.view(), ids.view(), h.view()); },
                      [&] { gather_rows_cuda(dt.view(), di.view(), d.view()); },
                      "gather_rows: table has shape (5, 4), ids (3), so that out must have shape "
                      "(3, 4), not (3, 5)"));
    CHECK(both_refuse([&] { scatter_rows_cpu(table.view(), ids.view(), h.view()); },
                      [&] { scatter_rows_cuda(dt.view(), di.view(), d.view()); },
                      "scatter_rows: out has shape (3, 5), ids (3), so that in must have shape "
                      "(3, 5), not (5, 4)"));
    CHECK(both_refuse([&] { gather_rows_cpu(table.view(), ids.view(), flat.view()); },
                      [&] { gather_rows_cuda(dt.view(), di.view(), dflat.view()); },
                      "rank 2 is needed"));
    const auto self = [](auto& out, const auto& i, auto op) {
        op(rows(out.view(), 0, 3), i.view(), rows(out.view(), 0, 3));
    };
    CHECK(
        both_refuse([&] { self(h, ids, [](auto t, auto i, auto o) { gather_rows_cpu(t, i, o); }); },
                    [&] { self(d, di, [](auto t, auto i, auto o) { gather_rows_cuda(t, i, o); }); },
                    "gather_rows: table overlaps out"));
    CHECK(both_refuse(
        [&] { self(h, ids, [](auto t, auto i, auto o) { scatter_rows_cpu(t, i, o); }); },
        [&] { self(d, di, [](auto t, auto i, auto o) { scatter_rows_cuda(t, i, o); }); },
        "scatter_rows: in overlaps out"));
    const Layout twice({3, 4}, {1, 1});
    CHECK(both_refuse(
        [&] {
            gather_rows_cpu(table.view(), ids.view(), {h.view().data, twice});
        },
        [&] {
            gather_rows_cuda(dt.view(), di.view(), {d.view().data, twice});
        },
        "writers of it would race"));
    CHECK(h.untouched());
    CHECK(d.untouched());
}

// --- fill and ramp -------------------------------------------------------------------------------

namespace {

void check_fill_both(float value, const Layout& out, Lead lead = {}) {
    CAPTURE(value, to_string(out), lead.elements);
    Tensor<float> answer(out.shape);
    for (std::int64_t k = 0; k < answer.size(); ++k) answer.data()[k] = value;
    HostOut<float> want(out, lead);
    fill_cpu(value, want.view());
    CHECK(want.matches(answer));
    DeviceOut<float> got(out, lead);
    fill_cuda(value, got.view());
    CHECK(got.matches(answer));
}

void check_ramp_both(float start, float step, const Layout& out, Lead lead = {}) {
    CAPTURE(start, step, to_string(out), lead.elements);
    HostOut<float> want(out, lead);
    ramp_cpu(start, step, want.view());
    // In long double, 64 bits of mantissa: start + k * step is exact there for these numbers, so
    // only the last rounding is left.
    Tensor<float> answer(out.shape);
    for (std::int64_t k = 0; k < answer.size(); ++k) {
        answer.data()[k] =
            static_cast<float>(static_cast<long double>(start) +
                               static_cast<long double>(k) * static_cast<long double>(step));
    }
    CHECK(want.matches(answer));
    DeviceOut<float> got(out, lead);
    ramp_cuda(start, step, got.view());
    CHECK(got.matches(want));
}

}  // namespace

TEST_CASE("a ramp counts in row-major order, whatever the layout: worked by hand",
          "[day03][fill][small]") {
    const Tensor<float> answer({2, 3}, {1, 1.5f, 2, 2.5f, 3, 3.5f});
    for (const Layout& layout : layouts_of({2, 3})) {
        HostOut<float> h(layout);
        ramp_cpu(1, 0.5f, h.view());
        CHECK(h.matches(answer));
        DeviceOut<float> d(layout);
        ramp_cuda(1, 0.5f, d.view());
        CHECK(d.matches(answer));
    }
}

TEST_CASE("the thousandth step of a ramp is not a thousand roundings off", "[day03][fill][small]") {
    Tensor<float> x(Shape{1001});
    ramp_cpu(0, 0.1f, x.view());
    CHECK(x(10) == 1.0f);
    CHECK(x(1000) == 100.0f);  // 1000 * 0.1f = 100.00000149, and floats there are 7.6e-6 apart
    float added = 0;
    for (int k = 0; k < 1000; ++k) added += 0.1f;
    CHECK(added != 100.0f);  // what adding step by step would give
}

TEST_CASE("fill and ramp take every size and address", "[day03][fill][small]") {
    for (const std::int64_t n :
         {0, 1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1025, 4095, 4096, 4097, 4100, 5003, 8192}) {
        for (const std::int64_t lead : {0, 1, 2, 3}) {
            check_fill_both(2.5f, row_major({n}), {lead});
            check_ramp_both(-3, 0.25f, row_major({n}), {lead});
        }
    }
    check_fill_both(-0.0f, row_major({5, 7}));
    check_fill_both(std::numeric_limits<float>::infinity(), Layout());
    float nan = 0;
    const std::uint32_t bits = 0x7FC12345;  // a NaN with something to say
    std::memcpy(&nan, &bits, sizeof nan);
    check_fill_both(nan, row_major({33}));
    check_fill_both(nan, column_major({3, 5}));
    check_fill_both(nan, Layout({3, 5}, {7, 1}));
}

TEST_CASE("fill and ramp leave gaps alone and take every order and direction of dims",
          "[day03][fill][small]") {
    for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 5}, Shape{4, 2, 4}}) {
        for (const Layout& layout : layouts_of(shape)) {
            check_fill_both(7, layout);
            check_ramp_both(10, -1, layout);
        }
    }
    const Layout eight({2, 2, 2, 2, 2, 2, 2, 2}, {3, 6, 12, 24, 48, 96, 192, 384});
    check_fill_both(7, eight);
    check_ramp_both(1, 1, eight);
    check_ramp_both(0.1f, 0.7f, Layout({300, 7}, {11, 1}));
}

TEST_CASE("fill takes 16 bytes a store where out is one run, ramp where it is in order",
          "[day03][fill][small]") {
    const auto of = [](const Layout& layout) { return View<float>(nullptr, layout); };
    const auto quads = FillPath::quads, any = FillPath::any_layout;
    CHECK(choose_fill(of(row_major({3, 5}))) == quads);
    CHECK(choose_ramp(of(row_major({3, 5}))) == quads);
    CHECK(choose_fill(of(column_major({3, 5}))) == quads);
    CHECK(choose_ramp(of(column_major({3, 5}))) == any);
    CHECK(choose_fill(of(Layout({3, 5}, {6, 1}))) == any);
    CHECK(choose_ramp(of(Layout({3, 5}, {6, 1}))) == any);
    CHECK(choose_fill(of(Layout({5}, {-1}))) == any);
    DeviceOut<float> out({3, 5});
    const View<float> v = out.view();
    fill_cuda(1, v);
    CHECK(last_kernel() == "fill_quads_kernel");
    fill_cuda(1, columns(v, 1, 3));
    CHECK(last_kernel() == "fill_kernel");
    ramp_cuda(1, 1, v);
    CHECK(last_kernel() == "ramp_quads_kernel");
    ramp_cuda(1, 1, transpose(v));
    CHECK(last_kernel() == "ramp_kernel");
}

TEST_CASE("a fill stores 16 bytes a lane and reads nothing", "[day03][fill][small]") {
    DeviceOut<float> out(Shape{32 * 1024});
    const auto touched = gpu::touched([&] { fill_cuda(1, out.view()); });
    CHECK(touched.has_value() == gpu::is_emulated());
    if (!touched) return;
    CHECK(touched->requests == 32 * 1024 / 4 / 32);
    CHECK(touched->sectors == 32 * 1024 / 8);
}

TEST_CASE("fill and ramp refuse an output that is written twice, or is nowhere",
          "[day03][fill][small]") {
    HostOut<float> h({2, 3});
    DeviceOut<float> d({2, 3});
    const auto refused = [&](auto change, const char* words) {
        CHECK(both_refuse([&] { fill_cpu(1, change(h.view())); },
                          [&] { fill_cuda(1, change(d.view())); }, words));
        CHECK(both_refuse([&] { ramp_cpu(1, 1, change(h.view())); },
                          [&] { ramp_cuda(1, 1, change(d.view())); }, words));
    };
    refused(
        [](View<float> v) {
            return broadcast_to(row(v, 0), {4, 3});
        },
        "where two indices may share one place; writers of it would race");
    refused([](View<float> v) { return windows(v, 1, 2, 1); }, "writers of it would race");
    refused([](View<float> v) { return View<float>(nullptr, v.layout); },
            "out is a null pointer, but its shape (2, 3) has 6 elements");
    CHECK(h.untouched());
    CHECK(d.untouched());
}

// --- convert -------------------------------------------------------------------------------------

namespace {

template <class From, class To>
void check_convert_both(const Tensor<From>& in, const Tensor<To>& answer, const Layout& layout) {
    CAPTURE(to_string(layout));
    HostOut<To> want(layout);
    convert_cpu(in.view(), want.view());
    CHECK(want.matches(answer));
    for (const std::int64_t lead : {0, 1}) {
        DeviceIn<From> din(in, layout, Lead{lead});
        DeviceOut<To> got(row_major(layout.shape));
        convert_cuda(din.view(), got.view());
        CHECK(got.matches(answer));
        CHECK(din.unchanged());
        DeviceIn<From> rows(in);
        DeviceOut<To> strided(layout, Lead{lead});
        convert_cuda(rows.view(), strided.view());
        CHECK(strided.matches(answer));
    }
}

template <class To>
Tensor<To> from_bits(const std::vector<std::uint16_t>& bits) {
    Tensor<To> tensor(Shape{static_cast<std::int64_t>(bits.size())});
    for (std::size_t k = 0; k < bits.size(); ++k) tensor.data()[k] = To::from_bits(bits[k]);
    return tensor;
}

}  // namespace

TEST_CASE("convert rounds to the nearest once, ties to even: worked by hand",
          "[day03][convert][small]") {
    // 1, 1 + 2^-8 (half way between two bf16), 1 + 3 * 2^-8, 65520 (half way to f16's infinity),
    // 2^-25 (half of the smallest f16), 2^-25 + 2^-40, -0.
    const std::vector<float> numbers = {
        1,     1 + std::ldexp(1.0f, -8), 1 + 3 * std::ldexp(1.0f, -8),
        65520, std::ldexp(1.0f, -25),    std::ldexp(1.0f, -25) + std::ldexp(1.0f, -40),
        -0.0f};
    const Layout line = row_major({7});
    const Tensor<float> in({7}, numbers);
    const std::vector<std::uint16_t> as_bf16 = {0x3F80, 0x3F80, 0x3F82, 0x4780,
                                                0x3300, 0x3300, 0x8000};
    const std::vector<std::uint16_t> as_f16 = {0x3C00, 0x3C04, 0x3C0C, 0x7C00,
                                               0x0000, 0x0001, 0x8000};
    check_convert_both(in, from_bits<bf16>(as_bf16), line);
    check_convert_both(in, from_bits<f16>(as_f16), line);
    // Back to float nothing is rounded. 65520 had become 65536, or infinity.
    const float inf = std::numeric_limits<float>::infinity(), tiny = std::ldexp(1.0f, -24);
    check_convert_both(from_bits<bf16>(as_bf16),
                       Tensor<float>({7}, {1, 1, 1 + 4 * std::ldexp(1.0f, -8), 65536,
                                           std::ldexp(1.0f, -25), std::ldexp(1.0f, -25), -0.0f}),
                       line);
    check_convert_both(from_bits<f16>(as_f16),
                       Tensor<float>({7}, {1, 1 + 4 * std::ldexp(1.0f, -10),
                                           1 + 12 * std::ldexp(1.0f, -10), inf, 0, tiny, -0.0f}),
                       line);
    // From one 16-bit type to the other by way of float: 65536 is too large for f16.
    check_convert_both(from_bits<bf16>({0x3F80, 0x4780, 0x3300, 0x8000}),
                       from_bits<f16>({0x3C00, 0x7C00, 0x0000, 0x8000}), row_major({4}));
    check_convert_both(from_bits<f16>({0x3C04, 0x7C00, 0x0001, 0x8000}),
                       from_bits<bf16>({0x3F80, 0x7F80, 0x3380, 0x8000}), row_major({4}));
}

TEST_CASE("convert takes any layout and any size", "[day03][convert][small]") {
    const auto converted = [](const Tensor<float>& in) {
        Tensor<bf16> out(in.shape());
        for (std::int64_t k = 0; k < in.size(); ++k) out.data()[k] = bf16(in.data()[k]);
        return out;
    };
    const Tensor<float> in = distinct<float>({2, 3, 5});
    for (const Layout& layout : layouts_of({2, 3, 5})) {
        check_convert_both(in, converted(in), layout);
        check_convert_both(distinct<f16>({2, 3, 5}), distinct<float>({2, 3, 5}), layout);
    }
    for (const std::int64_t n : {0, 1, 255, 257, 1023, 1024, 1025, 5003}) {
        const Tensor<float> line = seeded<float>({n}, 9, -100, 100);
        check_convert_both(line, converted(line), row_major({n}));
        check_convert_both(line, converted(line), Layout({n}, {-2}));
    }
    const Shape eight{2, 1, 3, 2, 2, 1, 3, 2};
    check_convert_both(distinct<f16>(eight), distinct<float>(eight), column_major(eight));
}

TEST_CASE("convert refuses other shapes, shared places and overlap", "[day03][convert][small]") {
    const Tensor<float> in({2, 3});
    DeviceIn<float> din(in);
    HostOut<bf16> h({3, 2}), wide(Shape{24});
    DeviceOut<bf16> d({3, 2}), dwide(Shape{24});
    CHECK(both_refuse(
        [&] { convert_cpu(in.view(), h.view()); }, [&] { convert_cuda(din.view(), d.view()); },
        "convert: in has shape (2, 3), but out has shape (3, 2); they must be equal"));
    const Layout twice({2, 3}, {1, 1});
    CHECK(both_refuse([&] { convert_cpu(in.view(), View<bf16>(h.view().data, twice)); },
                      [&] { convert_cuda(din.view(), View<bf16>(d.view().data, twice)); },
                      "writers of it would race"));
    const auto in_place = [](View<bf16> v) {
        return View<const float>(reinterpret_cast<const float*>(v.data), Shape{2, 3});
    };
    CHECK(both_refuse(
        [&] {
            convert_cpu(in_place(wide.view()), View<bf16>(wide.view().data, Shape{2, 3}));
        },
        [&] {
            convert_cuda(in_place(dwide.view()), View<bf16>(dwide.view().data, Shape{2, 3}));
        },
        "convert: in and out overlap"));
    CHECK(h.untouched());
    CHECK(d.untouched());
    CHECK(wide.untouched());
    CHECK(dwide.untouched());
}

// --- beyond 2^31 elements, on a GPU --------------------------------------------------------------

TEST_CASE("more than 2^31 elements are filled, counted and added to", "[day03][combine][huge]") {
    const std::int64_t rows_of_4 = (std::int64_t{1} << 29) + 3, n = 4 * rows_of_4;
    need_device_memory(n * 4 + (1 << 20));
    gpu::Buffer<float> memory(n);
    const auto at = [&](std::int64_t k) { return memory.download(k, 1)[0]; };
    const std::vector<std::int64_t> places = {
        0, 1, 4097, (n / 2) - 1, n / 2, (1LL << 31) - 1, 1LL << 31, (1LL << 31) + 5, n - 2, n - 1};
    const View<float> flat = memory.view(Shape{n});
    const View<float> columns_first = memory.view(column_major({4, rows_of_4}));
    ramp_cuda(0, 1, flat);
    for (const auto k : places) CHECK(at(k) == static_cast<float>(k));
    fill_cuda(3, flat);
    for (const auto k : places) CHECK(at(k) == 3);
    ramp_cuda(0, 1, columns_first);  // number of (i, j) is i * rows_of_4 + j, place j * 4 + i
    CHECK(last_kernel() == "ramp_kernel");
    for (const auto k : places) {
        CHECK(at(k) == static_cast<float>(k % 4 * rows_of_4 + k / 4));
    }
    fill_cuda(2, flip(flat, 0));
    CHECK(last_kernel() == "fill_kernel");
    for (const auto k : places) CHECK(at(k) == 2);
    const Tensor<float> bias(Shape{4}, {10, 20, 30, 40});
    gpu::Buffer<float> device_bias(bias);
    const View<float> matrix = memory.view(Shape{rows_of_4, 4});
    add_broadcast_cuda(matrix, device_bias.view(Shape{4}), matrix);
    for (const auto k : places) CHECK(at(k) == 2 + 10 * static_cast<float>(k % 4 + 1));
}
