// The lesson program of Day 03: every line marked "ok" has just been checked.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "common/lesson/lesson.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/bench/bench.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/run/moves.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;

namespace {

// x (2, 3, 4) holds its own offsets, so the value of an element is its offset.
Tensor<float> offsets_as_values() {
    return lesson::filled<float>({2, 3, 4}, [](std::int64_t i) { return i; });
}

// The elements of a view, in the order of its indices: "0 4 8 ..".
std::string shown(const View<const float>& v, std::int64_t most) {
    std::string text;
    const std::int64_t n = v.size();
    for (std::int64_t k = 0; k < std::min(n, most); ++k) {
        const float x = v(unravel(k, v.shape()));
        text += (k > 0 ? " " : "") + std::to_string(static_cast<int>(x));
    }
    return text + (n > most ? " .." : "");
}

void transforms_copy_nothing(lesson::Report& report) {
    report.heading("1. A transform changes a few numbers, but no element");
    const Tensor<float> x = offsets_as_values();
    const View<const float> v = x.view();
    const Tensor<float> bias({3}, {0, 1, 2});
    std::printf("   x (2, 3, 4) holds 0, 1, 2, .. 23: each element is its own offset.\n\n");
    std::printf("   %-29s %-13s %-13s %6s  %s\n", "", "shape", "strides", "offset", "elements");
    const struct {
        const char* what;
        View<const float> view;
        const char* elements;  // by hand
    } rows[] = {
        {"x", v, "0 1 2 3 4 5 6 .."},
        {"slice(x, 1, 1, 3)", slice(v, 1, 1, 3), "4 5 6 7 8 9 10 .."},
        {"slice(x, 2, 0, 4, 2)", slice(v, 2, 0, 4, 2), "0 2 4 6 8 10 12 .."},
        {"select(x, 1, 2)", select(v, 1, 2), "8 9 10 11 20 21 22 .."},
        {"transpose(x)", transpose(v), "0 4 8 1 5 9 2 .."},
        {"permute(x, {2, 0, 1})", permute(v, {2, 0, 1}), "0 4 8 12 16 20 1 .."},
        {"flip(x, 2)", flip(v, 2), "3 2 1 0 7 6 5 .."},
        {"reshape(x, {6, 4})", reshape(v, {6, 4}), "0 1 2 3 4 5 6 .."},
        {"unsqueeze(x, 0)", unsqueeze(v, 0), "0 1 2 3 4 5 6 .."},
        {"tile(x, {1, 2, 3}, {1, 1, 1})", tile(v, {1, 2, 3}, {1, 1, 1}), "23"},
        {"windows(x, 2, 3, 1)", windows(v, 2, 3, 1), "0 1 2 1 2 3 4 .."},
        {"broadcast_to(bias, {4, 3})", broadcast_to(bias.view(), {4, 3}), "0 1 2 0 1 2 0 .."},
    };
    bool ok = true;
    for (const auto& row : rows) {
        const float* const base =
            row.view.layout.rank() == 2 && row.view.stride(0) == 0 ? bias.data() : x.data();
        const std::string elements = shown(row.view, 7);
        ok &= elements == row.elements;
        std::printf("   %-29s %-13s %-13s %6lld  %s\n", row.what,
                    to_string(row.view.shape()).c_str(), to_string(row.view.strides()).c_str(),
                    static_cast<long long>(row.view.data - base), elements.c_str());
    }
    std::printf("\n");
    report.check(ok, "the elements match those worked out by hand; the offset is how far");
    std::printf(
        "          the pointer moved. Tile (1, 1, 1) crosses two edges, which leaves 1 of its 6 "
        "elements.\n");
    report.check(equivalent(transpose(transpose(v)).layout, v.layout),
                 "transposed twice it has the layout of x again");
}

// The message with which `call` is rejected, "" if it is accepted.
std::string rejected(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

void what_reshape_rejects(lesson::Report& report) {
    report.heading("2. A reshape is a view only where one stride describes each new dimension");
    const Tensor<float> x = offsets_as_values();
    const View<const float> v = x.view();
    report.check(!reshape_would_copy(v.layout, {2, 12}), "x (2, 3, 4) as (2, 12): a view");
    report.check(!reshape_would_copy(slice(v, 1, 0, 2).layout, {2, 8}),
                 "its slice (2, 2, 4) as (2, 8): a view, because rows 0 and 1 are adjacent");
    report.check(reshape_would_copy(slice(v, 1, 0, 2).layout, {16}),
                 "the same slice as (16): no, there is a gap after row 1");
    const std::string why = rejected([&] { (void)reshape(transpose(v), {24}); });
    report.check(!why.empty(), "transpose(x) as (24): no. The message:");
    std::printf("          %s\n", why.c_str());
    Tensor<float> room({2, 4, 3});
    const View<const float> copy = contiguous_cpu(transpose(v), room.view());
    report.check(shown(reshape(copy, {24}), 7) == "0 4 8 1 5 9 2 ..",
                 "after contiguous(): " + shown(reshape(copy, {24}), 7));
    report.check(contiguous_cpu(v, Tensor<float>({2, 3, 4}).view()).data == v.data,
                 "contiguous(x) is x itself, with the same pointer and no copy");
}

void copy_view_in_place(lesson::Report& report) {
    report.heading("3. Three contracts: a view, a copy, in place");
    Tensor<float> x = offsets_as_values();
    Tensor<float> copied({3, 4});
    const View<float> matrix = select(x.view(), 0, 0);
    copy_cpu(matrix, copied.view());
    row(matrix, 1)(2) = 100;
    report.check(x(0, 1, 2) == 100 && copied(1, 2) == 6,
                 "after a write through a view of a view, x(0, 1, 2) is 100; the copy still has 6");
    const Tensor<float> three({4}, {-1, -2, -3, -4});
    copy_cpu(three.view(), row(matrix, 2));
    report.check(x(0, 2, 3) == -4, "to assign a row, copy to a view of it");
    const View<float> square = slice(matrix, 1, 0, 3);
    const struct {
        const char* what;
        std::function<void()> call;
    } rejections[] = {
        {"A = A^T in place", [&] { copy_cpu(transpose(square), square); }},
        {"all rows moved by one row", [&] { copy_cpu(rows(matrix, 0, 2), rows(matrix, 1, 3)); }},
        {"writing to a broadcast",
         [&] {
             copy_cpu(matrix, broadcast_to(row(matrix, 0), {3, 4}));
         }},
        {"a slice past the end", [&] { (void)slice(matrix, 1, 2, 5); }},
    };
    for (const auto& rejection : rejections) {
        const std::string why = rejected(rejection.call);
        report.check(!why.empty(), std::string(rejection.what) + ":");
        std::printf("          %s\n", why.c_str());
    }
    const View<float> none = slice(matrix, 1, 4, 4);
    copy_cpu(none, none);
    report.check(
        none.size() == 0 && none.data == matrix.data,
        "an empty slice " + to_string(none.shape()) + " is valid, and copying it does nothing");
}

void a_ladder(lesson::Report& report) {
    report.heading("4. Eight kernels that transpose a matrix in memory");
    const auto step = [&](TransposePath path, const Kind& kind, std::int64_t M, std::int64_t N) {
        const Shape small = M % 16 == 0 ? Shape{144, 208} : Shape{143, 209};
        SmallMove x(kind, row_major(small), row_major({small[1], small[0]}));
        transpose_untyped_cpu(x.host_in(), x.host_out());
        lesson::Version v = step_of_transpose(path, kind, M, N);
        v.check.run = [&](int) { transpose_untyped_cuda(x.in(), x.out(), {.path = path}); };
        v.check.outcomes = x.outcomes();
        report.port(v);
    };
    for (const TransposePath path :
         {TransposePath::one_element, TransposePath::write_coalesced, TransposePath::shared_tile,
          TransposePath::padded, TransposePath::in_flight, TransposePath::vectorized}) {
        step(path, kFloat, 4096, 4096);
    }
    step(TransposePath::small_elements, kBf16, 4096, 4096);
    step(TransposePath::whole_sectors, kFloat, 4095, 4097);
}

void a_path_for_each_copy(lesson::Report& report) {
    report.heading("5. copy takes the path that suits the two layouts; out is row-major");
    std::printf("   in                            shape          strides            path\n");
    for (const CopyCase& c : copy_cases()) {
        if (c.only_bench) continue;
        SmallMove x(c.kind, c.small, row_major(c.small.shape));
        copy_untyped_cpu(x.host_in(), x.host_out());
        copy_untyped_cuda(x.in(), x.out());
        char line[128];
        std::snprintf(line, sizeof line, "%-22s %-14s %-18s %s", c.name,
                      to_string(c.small.shape).c_str(), to_string(c.small.strides).c_str(),
                      path_of(x.in(), x.out()).c_str());
        report.check(x.same(), line);
    }
    report.note(
        "one run: both are contiguous. rows: both have the same contiguous rows, copied in\n"
        "   elements of this many bytes. transposed: in has stride 1 in another dimension, so\n"
        "   transpose is called. repeat: one element fills a row. any layout: element by element.");
}

void tensors_whose_shapes_differ(lesson::Report& report) {
    report.heading(
        "6. Tensors of different shapes: CPU reference, CUDA version and hand calculation agree");
    std::printf("   x (2, 3) holds 1 2 3 4 5 6; row (3) 10 20 30; column (2, 1) 100 200;\n");
    std::printf("   mask (3) 1 0 1.\n\n");
    const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30});
    const Tensor<float> column({2, 1}, {100, 200});
    const Tensor<std::uint8_t> mask({3}, {1, 0, 1});
    const gpu::Buffer<float> dx(x), drow(row), dcolumn(column);
    const gpu::Buffer<std::uint8_t> dmask(mask);
    const View<const float> X = dx.view({2, 3}), R = drow.view({3}), C = dcolumn.view({2, 1});
    const View<const std::uint8_t> M = dmask.view({3});
    Tensor<float> want({0});
    gpu::Buffer<float> got(0);
    const auto host = [&](const Shape& shape) { return (want = Tensor<float>(shape)).view(); };
    const auto device = [&](const Shape& shape) {
        got = gpu::Buffer<float>(size(shape));
        got.fill_bytes(0xff);
        return got.view(shape);
    };
    const auto check = [&](const char* what, const char* by_hand) {
        const std::string elements = shown(want.view(), want.size());
        char line[96];
        std::snprintf(line, sizeof line, "%-24s %-7s %s", what, to_string(want.shape()).c_str(),
                      elements.c_str());
        report.check(lesson::same(got, want) && elements == by_hand, line);
    };
    add_broadcast_cpu(x.view(), row.view(), host({2, 3}));
    add_broadcast_cuda(X, R, device({2, 3}));
    check("x + row", "11 22 33 14 25 36");
    add_broadcast_cpu(x.view(), column.view(), host({2, 3}));
    add_broadcast_cuda(X, C, device({2, 3}));
    check("x + column", "101 102 103 204 205 206");
    where_cpu(mask.view(), x.view(), row.view(), host({2, 3}));
    where_cuda(M, X, R, device({2, 3}));
    check("where(mask, x, row)", "1 20 3 4 20 6");
    concat_cpu({x.view(), column.view()}, 1, host({2, 4}));
    concat_cuda({X, C}, 1, device({2, 4}));
    check("concat({x, column}, 1)", "1 2 3 100 4 5 6 200");
    pad_cpu(x.view(), {0, 1}, -1, host({2, 5}));
    pad_cuda(X, {0, 1}, -1, device({2, 5}));
    check("pad(x, {0, 1}, -1)", "-1 1 2 3 -1 -1 4 5 6 -1");
    pad_cpu(x.view(), {0, -1}, -1, host({2, 2}));
    pad_cuda(X, {0, -1}, -1, device({2, 2}));
    check("pad(x, {0, -1}, -1)", "2 3 5 6");
}

}  // namespace

int main(int argc, char** argv) {
    return lesson::run(
        argc, argv,
        {.title = "Day 03, views",
         .shows =
             "A view is a pointer and a layout over memory that it does not own; transforms copy "
             "nothing.",
         .sections = {transforms_copy_nothing, what_reshape_rejects, copy_view_in_place, a_ladder,
                      a_path_for_each_copy, tensors_whose_shapes_differ},
         .trace = trace_all,
         .bench = bench_all,
         .try_this = "remove the + 1 from steps/transpose/04_padded.cu and run with --trace; then "
                     "remove\nthe __syncthreads()."});
}
