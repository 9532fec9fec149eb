// sum_columns and ramp: CPU references against results by hand, every path against the references.
#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/testing/operation/cases.hpp"
#include "day02_strides/stride_cost.hpp"
#include "day02_strides/sweep.op.hpp"
#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

using P = SumColumnsPath;

struct Step {
    const char* name;
    std::function<void(View<const float>, View<float>, gpu::Stream)> sum;
};
const Step kSteps[] = {{name(P::one_load),
                        [](auto in, auto out, auto s) {
                            sum_columns_cuda(in, out, {.path = P::one_load, .stream = s});
                        }},
                       {name(P::in_flight),
                        [](auto in, auto out, auto s) {
                            sum_columns_cuda(in, out, {.path = P::in_flight, .stream = s});
                        }},
                       {"sum_columns_cuda", [](auto in, auto out, auto s) {
                            sum_columns_cuda(in, out, {.stream = s});
                        }}};

TEST_CASE("sums of columns and of rows equal those worked by hand", "[day02][sweep][small]") {
    const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
    HostOut<float> columns({3}), rows({2});
    sum_columns_cpu(x.view(), columns.view());
    CHECK(columns.matches(Tensor<float>({3}, {5, 7, 9})));
    // The rows of x are the columns of the same memory read with strides (1, 3).
    sum_columns_cpu(View<const float>(x.data(), Layout({3, 2}, {1, 3})), rows.view());
    CHECK(rows.matches(Tensor<float>({2}, {6, 15})));
    // Every second element of 1..6.
    HostOut<float> odd({3});
    sum_columns_cpu(View<const float>(x.data(), Layout({1, 3}, {6, 2})), odd.view());
    CHECK(odd.matches(Tensor<float>({3}, {1, 3, 5})));
}

TEST_CASE("elements are added in row order: (2^24 + 1) + 1 is not 2^24 + (1 + 1)",
          "[day02][sweep][small]") {
    Tensor<float> in({11, 1});  // enough for eight in flight
    for (std::int64_t j = 0; j < 11; ++j) in(j, 0) = j == 0 ? 16777216.0f : 1.0f;
    HostOut<float> want(Shape{1});
    sum_columns_cpu(in.view(), want.view());
    CHECK(want.matches(Tensor<float>(Shape{1}, {16777216})));
    const DeviceIn<float> din(in);
    for (const Step& step : kSteps) {
        CAPTURE(step.name);
        DeviceOut<float> got(Shape{1});
        step.sum(din.view(), got.view(), {});
        CHECK(got.matches(want));
    }
}

TEST_CASE("sum_columns reads a broadcast row and a broadcast element", "[day02][sweep][small]") {
    const Tensor<float> x({5}, {1, 2, 3, 4, 5});
    const DeviceIn<float> dx(x);
    for (const Strides& strides : {Strides{0, 1}, Strides{1, 0}, Strides{0, 0}}) {
        CAPTURE(to_string(strides));
        const Layout layout({5, 5}, strides);
        HostOut<float> want({5});
        sum_columns_cpu(View<const float>(x.data(), layout), want.view());
        DeviceOut<float> got({5});
        sum_columns_cuda(View<const float>(dx.view().data, layout), got.view());
        CHECK(got.matches(want));
        CHECK(want.values()(1) == (strides[0] == 0 ? (strides[1] == 0 ? 5 : 10) : 15));
    }
}

TEST_CASE("sum_columns and ramp are correct in every layout", "[day02][sweep][small]") {
    // One below, at and above a warp, a block, and eight elements in flight.
    std::vector<Operation> all;
    for (const std::int64_t M : {0, 1, 2, 7, 8, 9, 17}) {
        for (const std::int64_t K : {1, 3, 31, 33, 255, 257}) {
            all.push_back(sum_columns_operation(M, K));
            all.push_back(ramp_operation(M, K));
        }
    }
    check_values(all);
    for (const std::int64_t M : {7, 17}) {
        CHECK(takes_or_rejects_placements(sum_columns_operation(M, 257)));
        CHECK(takes_or_rejects_placements(ramp_operation(M, 257)));
    }
}

TEST_CASE("sum_columns and ramp are correct on larger matrices", "[day02][sweep][full]") {
    const std::int64_t M = 101, K = 4099;
    for (const Layout& layout :
         {row_major({M, K}), column_major({M, K}), Layout({M, K}, {-(K + 2), 1})}) {
        Operation sums = sum_columns_operation(M, K), ramp = ramp_operation(M, K);
        sums.operands[0].placed(layout, 1);
        ramp.operands[0].placed(layout, 1);
        check_values({sums, ramp});
    }
}

TEST_CASE("sum_columns and ramp: CPU reference and kernel reject the same arguments",
          "[day02][sweep][small]") {
    Tensor<float> x({2, 3}), sums({3}), run({20});
    const auto sum = [](View<const float> in, View<float> out, const char* words) {
        return both_reject([&] { sum_columns_cpu(in, out); }, [&] { sum_columns_cuda(in, out); },
                           words);
    };
    CHECK(sum(sums.view(), sums.view(), "sum_columns: in has shape (3) of rank 1, but rank 2"));
    CHECK(sum(x.view(), run.view(), "sum_columns: out has 20 elements, but in has 3 columns"));
    CHECK(both_reject(
        [&] {
            ramp_cpu({run.data(), Layout({3, 3}, {2, 1})});
        },
        [&] {
            ramp_cuda({run.data(), Layout({3, 3}, {2, 1})});
        },
        "writers of it would race"));
}

TEST_CASE("the emulator's sector counts equal the model's, at every stride",
          "[day02][sweep][model][small]") {
    const std::int64_t J = 4, T = 256;
    gpu::Buffer<float> memory(J * T * 129), sums(T);
    memory.fill_bytes(0x3f);
    for (const std::int64_t s :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 33, 64, 65, 128, 129}) {
        CAPTURE(s);
        const Layout layout({J, T}, {T * s, s});
        const std::int64_t model = sectors_asked_for(layout);
        const auto read =
            gpu::touched([&] { sum_columns_cuda(memory.view(layout), sums.view({T})); });
        const auto wrote = gpu::touched([&] { ramp_cuda(memory.view(layout)); });
        CHECK(read.has_value() == gpu::is_emulated());
        if (!read || !wrote) continue;
        CHECK(read->requests == J * T / 32 + T / 32);
        CHECK(read->sectors == model + T * 4 / 32);
        CHECK(wrote->requests == J * T / 32);
        CHECK(wrote->sectors == model);
        CHECK(model == count_units(layout, 32).touched);  // no sector is shared by two warps
    }
}

TEST_CASE("sums of rows are coalesced only if adjacent threads have adjacent offsets",
          "[day02][sweep][small]") {
    // 64 rows of 32. Column-major: neighbours in t are neighbours in memory, 4 sectors per request.
    // Row-major: they are a row apart, and each of a warp's 32 lanes needs its own sector.
    const std::int64_t rows = 64, columns = 32;
    const DeviceIn<float> memory(distinct<float>({rows * columns}));
    DeviceOut<float> sums({rows});
    const struct {
        const char* name;
        Layout transposed;  // (columns, rows): sum_columns adds along dim 0
        std::int64_t sectors;
    } cases[] = {{"column-major", Layout({columns, rows}, {rows, 1}), 4},
                 {"row-major", Layout({columns, rows}, {1, columns}), 32}};
    for (const auto& c : cases) {
        CAPTURE(c.name);
        const View<const float> in(memory.view().data, c.transposed);
        const auto touched = gpu::touched([&] { sum_columns_cuda(in, sums.view()); });
        CHECK(sectors_asked_for(c.transposed) == columns * 2 * c.sectors);
        CHECK(touched.has_value() == gpu::is_emulated());
        if (touched) CHECK(touched->sectors == columns * 2 * c.sectors + 2 * 4);
    }
    CHECK_NOTHROW(gpu::synchronize());
}

TEST_CASE("sum_columns and ramp only launch, on the given stream", "[day02][sweep][small]") {
    const Tensor<float> matrix = distinct<float>({9, 33});
    const DeviceIn<float> in(matrix);
    Tensor<float> sums({33}), counted({9, 33});
    sum_columns_cpu(matrix.view(), sums.view());
    ramp_cpu(counted.view());
    for (const Step& step : kSteps) {
        CAPTURE(step.name);
        check_only_launches(sums, [&](auto out, auto s) { step.sum(in.view(), out, s); });
    }
    check_only_launches(counted, [&](auto out, auto s) { ramp_cuda(out, s); });
}

TEST_CASE("sum_columns and ramp are correct for rows 2^32 elements apart", "[day02][sweep][huge]") {
    const std::int64_t apart = 2 * kTwo31 + 9;
    need_device_memory(4 * (apart + 5));
    gpu::Buffer<float> memory(apart + 5);  // two rows, `apart` elements from each other
    memory.upload(std::vector<float>{6, 7, 8, 9, 10}.data(), 5, 0);
    memory.upload(std::vector<float>{1, 2, 3, 4, 5}.data(), 5, apart);
    const Layout layout({2, 5}, {-apart, 1});
    for (const Step& step : kSteps) {
        CAPTURE(step.name);
        DeviceOut<float> sums({5});
        step.sum(memory.view(layout, apart), sums.view(), {});
        CHECK(sums.matches(Tensor<float>({5}, {7, 9, 11, 13, 15})));
    }
    ramp_cuda(memory.view(layout, apart));
    CHECK(memory.download(0, 5) == std::vector<float>{5, 6, 7, 8, 9});
    CHECK(memory.download(apart, 5) == std::vector<float>{0, 1, 2, 3, 4});
}

TEST_CASE("sum_columns and ramp are correct past 2^31 columns", "[day02][sweep][huge]") {
    // Two rows, then eight, all equal by a stride of 0, so that both steps are taken.
    const std::int64_t T = kTwo31 + 1000, around = 2000;
    need_device_memory(2 * 4 * T);
    gpu::Buffer<float> in(T), sums(T);
    const std::int64_t places[] = {0, kTwo31 / 2 - 1000, kTwo31 - 1000, T - around};
    for (const std::int64_t J : {2, 8}) {
        in.fill_bytes(0x3f);
        for (const std::int64_t first : places) {
            in.upload(distinct<float>({around}).data(), around, first);
        }
        sums.fill_bytes(0xff);
        sum_columns_cuda(in.view(Layout({J, T}, {0, 1})), sums.view({T}));
        for (const std::int64_t first : places) {
            const std::vector<float> got = sums.download(first, around),
                                     x = in.download(first, around);
            bool ok = true;
            for (std::size_t i = 0; i < got.size(); ++i)
                ok &= got[i] == static_cast<float>(J) * x[i];
            CAPTURE(J, first);
            CHECK(ok);
        }
    }
    sums.fill_bytes(0xff);
    ramp_cuda(sums.view({1, T}));
    for (const std::int64_t first : places) {
        const std::vector<float> got = sums.download(first, around);
        bool ok = true;
        for (std::int64_t i = 0; i < around; ++i) {
            ok &= got[static_cast<std::size_t>(i)] == static_cast<float>(first + i);
        }
        CAPTURE(first);
        CHECK(ok);
    }
}

}  // namespace
