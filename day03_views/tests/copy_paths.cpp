// The path that copy takes, the arguments that it rejects, and that it only launches.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <string>

#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/tests/helpers.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

TEST_CASE("copy takes the path that suits the layouts", "[day03][copy][small]") {
    using P = CopyPath;
    const auto permuted = [](const Shape& shape, const Dims& order) {
        return permute(row_major(shape), order);
    };
    const struct {
        const char* what;
        int element;
        Layout in, out;
        std::int64_t lead_in, lead_out;
        P path;
        int wide;  // bytes of the plan's elements
        const char* kernel;
    } cases[] = {
        {"contiguous", 4, row_major({5, 7}), row_major({5, 7}), 0, 0, P::one_run, 4,
         "copy_one_run_kernel"},
        {"both backwards", 4, Layout({8}, {-1}), Layout({8}, {-1}), 7, 7, P::one_run, 4,
         "copy_one_run_kernel"},
        {"other addresses", 4, row_major({64}), row_major({64}), 1, 0, P::rows, 4,
         "copy_walk_kernel"},
        {"8 bytes apart", 4, row_major({64}), row_major({64}), 2, 0, P::rows, 8,
         "copy_walk_kernel"},
        {"aligned rows", 4, pitched({9, 32}, 36), row_major({9, 32}), 0, 0, P::rows, 16,
         "copy_walk_kernel"},
        {"odd pitch", 4, pitched({9, 32}, 37), row_major({9, 32}), 0, 0, P::rows, 4,
         "copy_walk_kernel"},
        {"pitch of half vectors", 4, row_major({9, 32}), pitched({9, 32}, 38), 0, 0, P::rows, 8,
         "copy_walk_kernel"},
        {"rows of half vectors", 4, pitched({9, 30}, 36), pitched({9, 30}, 40), 0, 0, P::rows, 8,
         "copy_walk_kernel"},
        {"heads", 4, permuted({2, 8, 3, 64}, {0, 2, 1, 3}), row_major({2, 3, 8, 64}), 0, 0, P::rows,
         16, "copy_walk_kernel"},
        {"a row repeated", 4, Layout({9, 32}, {0, 1}), row_major({9, 32}), 0, 0, P::rows, 16,
         "copy_walk_kernel"},
        {"a column repeated", 4, Layout({9, 32}, {1, 0}), row_major({9, 32}), 0, 0, P::repeat, 4,
         "copy_repeat_kernel"},
        {"repeated, to an odd place", 4, Layout({9, 32}, {1, 0}), row_major({9, 32}), 0, 1,
         P::any_layout, 4, "copy_walk_kernel"},
        {"transpose", 4, column_major({64, 40}), row_major({64, 40}), 0, 0, P::transposed, 4,
         "transpose_vectorized_kernel"},
        {"complex transpose", 4, permuted({40, 50, 2}, {1, 0, 2}), row_major({50, 40, 2}), 0, 0,
         P::transposed, 8, "transpose_in_flight_kernel"},
        {"vectors transposed", 4, permuted({40, 50, 4}, {1, 0, 2}), row_major({50, 40, 4}), 0, 0,
         P::transposed, 16, "transpose_in_flight_kernel"},
        {"channels last", 4, permuted({3, 10, 20}, {1, 2, 0}), row_major({10, 20, 3}), 0, 0,
         P::transposed, 4, "transpose_columns_to_rows_kernel"},
        {"17 columns, at an odd place", 4, column_major({100, 17}), row_major({100, 17}), 1, 0,
         P::transposed, 4, "transpose_short_rows_kernel"},
        {"two dimensions of 32", 4, column_major({32, 32}), row_major({32, 32}), 0, 0,
         P::any_layout, 4, "copy_walk_kernel"},
        {"every other one", 4, Layout({50}, {2}), row_major({50}), 0, 0, P::any_layout, 4,
         "copy_walk_kernel"},
    };
    gpu::Buffer<std::uint8_t> a(1 << 15), b(1 << 15);
    a.fill_bytes(1);
    for (const auto& c : cases) {
        CAPTURE(c.what);
        const UntypedIn in{a.data() + c.lead_in * c.element, c.element, c.in};
        const UntypedOut out{b.data() + c.lead_out * c.element, c.element, c.out};
        CHECK(std::string(name(plan_copy(in, out).path)) == name(c.path));
        CHECK(plan_copy(in, out).in.element == c.wide);
        copy_untyped_cuda(in, out);
        CHECK(last_kernel() == c.kernel);
        copy_untyped_cuda(in, out, {.path = c.path});
        CHECK(last_kernel() == c.kernel);
    }
    const std::string before = last_kernel();
    const UntypedOut here{a.data(), 4, row_major({4, 4})}, none{a.data(), 4, row_major({4, 0})};
    CHECK(plan_copy({a.data(), 4, here.layout}, here).path == P::nothing);
    CHECK(plan_copy({a.data(), 4, column_major({4, 4})}, here).path != P::nothing);
    CHECK(plan_copy({b.data(), 4, none.layout}, none).path == P::nothing);
    // A stride that is never used has no effect.
    CHECK(
        plan_copy({a.data(), 4, Layout({1, 4}, {99, 1})}, {a.data(), 4, row_major({1, 4})}).path ==
        P::nothing);
    copy_untyped_cuda({a.data(), 4, here.layout}, here);
    copy_untyped_cuda({b.data(), 4, none.layout}, none);
    CHECK(last_kernel() == before);
}

TEST_CASE("a path that does not suit the layouts is rejected and writes nothing",
          "[day03][copy][small]") {
    DeviceIn<float> from(distinct<float>({40, 45}));
    DeviceOut<float> got({45, 40});
    for (const CopyPath path :
         {CopyPath::nothing, CopyPath::one_run, CopyPath::rows, CopyPath::repeat}) {
        CAPTURE(name(path));
        CHECK(rejection([&] { copy_cuda(transpose(from.view()), got.view(), {.path = path}); }) ==
              std::string("copy: in has shape (45, 40), strides (1, 45), out shape (45, 40), "
                          "strides (40, 1): their path is 'transposed', not '") +
                  name(path) + "'");
    }
    CHECK(got.untouched());
}

TEST_CASE("contiguous copies only a view that is not contiguous", "[day03][copy][small]") {
    const Tensor<float> in = distinct<float>({3, 4});
    Tensor<float> room({3, 4}), transposed({4, 3});
    CHECK(contiguous_cpu(in.view(), room.view()).data == in.data());
    CHECK(room(0, 0) == 0);
    const View<const float> t = contiguous_cpu(transpose(in.view()), transposed.view());
    CHECK(t.data == transposed.data());
    CHECK(transposed(1, 2) == in(2, 1));
    const View<const float> row_of = rows(in.view(), 1, 2);  // a row is already contiguous
    Tensor<float> one({4, 1});
    CHECK(contiguous_cpu(transpose(row_of), one.view()).data == row_of.data);

    DeviceIn<float> from(in);
    DeviceOut<float> untouched({3, 4}), got({4, 3});
    CHECK(contiguous_cuda(from.view(), untouched.view()).data == from.view().data);
    CHECK(untouched.untouched());
    const View<float> to = got.view();
    CHECK(contiguous_cuda(transpose(from.view()), to).data == to.data);
    CHECK(got.matches(transposed));
    CHECK(both_reject(
        [&] {
            (void)contiguous_cpu(in.view(), View<float>(room.data(), column_major({3, 4})));
        },
        [&] {
            (void)contiguous_cuda(in.view(), View<float>(room.data(), column_major({3, 4})));
        },
        "contiguous: room has shape (3, 4), strides (1, 3), which is not contiguous"));
}

TEST_CASE("copy rejects racing writes and overlapping operands", "[day03][copy][small]") {
    Tensor<float> x({4, 4}), y({4, 4});
    const auto rejected = [&](View<const float> from, View<float> to, const char* words) {
        CHECK(both_reject([&] { copy_cpu(from, to); }, [&] { copy_cuda(from, to); }, words));
    };
    rejected(x.view(), {y.data(), Shape{2, 8}}, "in has shape (4, 4), but out has shape (2, 8)");
    rejected(x.view(), {y.data(), Layout({4, 4}, {1, 1})}, "writers of it would race");
    rejected(transpose(x.view()), x.view(), "overlap without being the same tensor");
    const View<const float> none = slice(x.view(), 1, 4, 4);  // an empty slice at the very end
    copy_cuda(none, View<float>(y.data(), none.shape()));
}

TEST_CASE("copy rejects a broadcast output, on the device too", "[day03][copy][small]") {
    const Tensor<float> in = distinct<float>({4, 64});
    DeviceIn<float> from(in);
    Tensor<float> host({64});
    DeviceOut<float> row_of({64});
    const Layout four_rows = broadcast_to(row_major({64}), {4, 64});  // all at one address
    CHECK(both_reject([&] { copy_cpu(in.view(), View<float>(host.data(), four_rows)); },
                      [&] { copy_cuda(from.view(), View<float>(row_of.view().data, four_rows)); },
                      "writers of it would race"));
    CHECK(row_of.untouched());
}

TEST_CASE("every launcher does nothing but launch, on the given stream", "[day03][small]") {
    const Tensor<float> in = distinct<float>({40, 3, 36});
    const DeviceIn<float> from(in);
    const std::vector<Dims> orders = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};
    for (const Dims& order : orders) {
        CAPTURE(to_string(order));
        const View<const float> view = permute(from.view(), order);
        const Tensor<float> want = [&] {
            Tensor<float> t(view.shape());
            copy_cpu(permute(in.view(), order), t.view());
            return t;
        }();
        DeviceOut<float> got(view.shape());
        if (gpu::is_emulated()) {
            copy_cuda(view, got.view());
        } else {
            const View<float> to = got.view();
            gpu::Graph graph([&](gpu::Stream stream) { copy_cuda(view, to, {.stream = stream}); });
            CHECK(got.untouched());
            graph.launch();
        }
        CHECK(got.matches(want));
    }
}

}  // namespace
