// The cases that `common/learn check` runs for flip_rows. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "day02_strides/exercises/flip_rows/flip_rows.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

// Which elements the launcher reads, and where it writes them.
std::string cause(const Layout& in, const Layout& out) {
    const std::int64_t M = in.shape[0];
    const auto from = [=](const Index& i) { return offset(in, M - 1 - i[0], i[1]); };
    const auto to = [=](const Index& i) { return offset(out, i[0], i[1]); };
    return moved_wrongly({"out.data",
                          "mk",
                          in.shape,
                          {{"in.data", reach(in).highest + 1, from}},
                          to,
                          reach(out).highest + 1,
                          "out(m, k)"},
                         [=](const auto& source, float* to_data) {
                             flip_rows_cuda({source[0], in}, {to_data, out});
                         });
}

void check_port(const Layout& in, const Layout& out) {
    CAPTURE(to_string(in), to_string(out));
    const Tensor<float> values = distinct<float>(in.shape);
    const HostIn<float> host_in(values, in);
    HostOut<float> want(out);
    flip_rows_cpu(host_in.view(), want.view());
    DeviceIn<float> din(values, in, Lead{1});
    DeviceOut<float> got(out, Lead{1});
    practise_port([&] { flip_rows_cuda(din.view(), got.view()); }, got, want,
                  [&] { return cause(in, out); });
    REQUIRE(din.unchanged());
}

TEST_CASE("flip_rows: the example of the statement", "[day02][flip_rows][small]") {
    const Tensor<float> in({3, 2}, {1, 2, 3, 4, 5, 6}), answer({3, 2}, {5, 6, 3, 4, 1, 2});
    HostOut<float> loop({3, 2});
    flip_rows_cpu(in.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> din(in);
    DeviceOut<float> got({3, 2});
    practise_port([&] { flip_rows_cuda(din.view(), got.view()); }, got, answer,
                  [] {
                      return cause(row_major({3, 2}), row_major({3, 2}));
                  });
}

TEST_CASE("flip_rows: one row, one column, one element", "[day02][flip_rows][small]") {
    check_port(row_major({1, 5}), row_major({1, 5}));
    check_port(row_major({5, 1}), row_major({5, 1}));
    check_port(row_major({1, 1}), row_major({1, 1}));
}

TEST_CASE("flip_rows: partial blocks", "[day02][flip_rows][small]") {
    check_port(row_major({8, 32}), row_major({8, 32}));
    check_port(row_major({7, 31}), row_major({7, 31}));
    check_port(row_major({67, 129}), row_major({67, 129}));
}

TEST_CASE("flip_rows: rows with a pitch, in and out", "[day02][flip_rows][small]") {
    check_port(Layout({9, 33}, {40, 1}), row_major({9, 33}));
    check_port(row_major({9, 33}), Layout({9, 33}, {37, 1}));
}

TEST_CASE("flip_rows: column-major and already flipped layouts", "[day02][flip_rows][small]") {
    check_port(column_major({9, 33}), row_major({9, 33}));
    check_port(row_major({9, 33}), column_major({9, 33}));
    check_port(Layout({9, 33}, {-33, 1}), row_major({9, 33}));
    check_port(Layout({9, 33}, {-2, -19}), Layout({9, 33}, {40, -1}));
}

TEST_CASE("flip_rows: one row, read many times", "[day02][flip_rows][small]") {
    const Tensor<float> row({1, 5}, {1, 2, 3, 4, 5});
    DeviceIn<float> din(row);
    DeviceOut<float> got({2, 5});
    flip_rows_cuda({din.view().data, Layout({2, 5}, {0, 1})}, got.view());
    REQUIRE(got.matches(Tensor<float>({2, 5}, {1, 2, 3, 4, 5, 1, 2, 3, 4, 5})));
}

TEST_CASE("flip_rows: neighbouring threads touch neighbouring elements",
          "[day02][flip_rows][small]") {
    // (16, 64): 32 warps of 32 columns, each one load and one store of 4 sectors.
    const Tensor<float> in = distinct<float>({16, 64});
    DeviceIn<float> din(in);
    DeviceOut<float> got({16, 64});
    const auto touched = gpu::touched([&] { flip_rows_cuda(din.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) REQUIRE(touches(*touched, 2 * 32, 2 * 32 * 4));  // counted by the emulator only
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("flip_rows: nothing to do", "[day02][flip_rows][small]") {
    check_port(row_major({0, 5}), row_major({0, 5}));
    check_port(row_major({5, 0}), row_major({5, 0}));
}

TEST_CASE("flip_rows: the rows are reversed by the view, not by an index",
          "[day02][flip_rows][small]") {
    DeviceIn<float> din(distinct<float>({9, 33}));
    DeviceOut<float> got({9, 33});
    flip_rows_cuda(din.view(), got.view());
    const float* last_row = din.view().data + 8 * 33;
    const std::int64_t back = -33;
    const auto begins = gpu::launched_with(&last_row, sizeof(last_row));
    const auto goes_back = gpu::launched_with(&back, sizeof(back));
    INFO(
        "The values are right, but the kernel was not given a view that begins in the last row "
        "and has a negative row stride, so it reverses the rows by an index. The exercise asks "
        "you to change two numbers before the launch, the pointer and the row stride, and for a "
        "kernel that only copies.");
    REQUIRE((!begins || *begins));
    REQUIRE((!goes_back || *goes_back));
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("flip_rows: rejects what the CPU reference rejects", "[day02][flip_rows][small]") {
    Tensor<float> in({2, 3}), out({3, 2});
    REQUIRE(both_reject([&] { flip_rows_cpu(in.view(), out.view()); },
                        [&] { flip_rows_cuda(in.view(), out.view()); },
                        "in has shape (2, 3), but out has shape (3, 2)"));
    const View<float> twice(out.data(), Layout({2, 3}, {0, 1}));
    REQUIRE(both_reject([&] { flip_rows_cpu(in.view(), twice); },
                        [&] { flip_rows_cuda(in.view(), twice); }, "writers of it would race"));
    REQUIRE(both_reject([&] { flip_rows_cpu(in.view(), in.view()); },
                        [&] { flip_rows_cuda(in.view(), in.view()); }, "in and out overlap"));
}

}  // namespace
