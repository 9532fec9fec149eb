#include "day03_views/bench/bench.hpp"

#include <memory>

#include "common/gpu/tile.hpp"
#include "common/lesson/arena.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/run/moves.hpp"

namespace sixdays::day03_views {

using lesson::Arena, lesson::Version;

namespace {

void bench_transpose(lesson::Report& report) {
    using P = TransposePath;
    const struct {
        P path;
        std::vector<Kind> kinds;
    } steps[] = {
        {P::one_element, {kFloat}},
        {P::write_coalesced, {kFloat}},
        {P::shared_tile, {kFloat}},
        {P::padded, {kFloat}},
        {P::in_flight, {kFloat, kBf16, kUint8}},
        {P::vectorized, {kFloat}},
        {P::small_elements, {kBf16, kUint8}},
    };
    const auto run = [&](P path, const Kind& kind, std::int64_t M, std::int64_t N) {
        const Shape small = M % 16 == 0 ? Shape{144, 208} : Shape{143, 209};
        SmallMove x(kind, row_major(small), row_major({small[1], small[0]}));
        transpose_untyped_cpu(x.host_in(), x.host_out());
        Version v = step_of_transpose(path, kind, M, N);
        v.check = {[&](int) { transpose_untyped_cuda(x.in(), x.out(), {.path = path}); },
                   x.outcomes()};
        report.port(v);
    };
    for (const auto& step : steps) {
        for (const Kind& kind : step.kinds) {
            run(step.path, kind, 8192, 8192);
            run(step.path, kind, 16384, 4096);
        }
    }
    for (const Kind& kind : {kFloat, kBf16, kUint8}) {
        run(P::in_flight, kind, 8191, 8193);
        if (kind.element > 1) run(P::whole_sectors, kind, 8191, 8193);
    }
    if (!gpu::has_tile()) return;
    run(P::tile, kFloat, 8192, 8192);
    run(P::tile, kFloat, 16384, 4096);
    run(P::tile, kFloat, 8191, 8193);  // no alignment to guarantee
}

void bench_copy(lesson::Report& report) {
    const Move copy = [](const UntypedIn& in, const UntypedOut& out) {
        copy_untyped_cuda(in, out);
    };
    for (const CopyCase& c : copy_cases()) {
        SmallMove x(c.kind, c.small, row_major(c.small.shape));
        copy_untyped_cpu(x.host_in(), x.host_out());
        // The peer has a separate operation for each.
        Version v = row_of(std::string("copy, ") + c.name, "copy_cuda", c.kind, c.large);
        // Addresses like those of cudaMalloc, multiples of 256. No memory is accessed.
        auto* const somewhere = reinterpret_cast<char*>(std::uintptr_t{1} << 40);
        auto* const elsewhere = somewhere + (std::int64_t{1} << 38);
        v.path = path_of({origin(somewhere, c.large, c.kind), c.kind.element, c.large},
                         {elsewhere, c.kind.element, row_major(c.large.shape)});
        v.check = {[&](int) { copy(x.in(), x.out()); }, x.outcomes()};
        v.timed = [&] {
            return large_move(c.kind, c.large, row_major(c.large.shape), c.large, copy);
        };
        report.port(v);
    }
}

// a (M, N) and a bias of shape `bias`.
void bench_add(lesson::Report& report, const char* op, const Shape& bias) {
    const Shape shape{8192, 4096};
    const auto arena =
        std::make_shared<Arena>(std::vector{4 * size(shape), 4 * size(bias)}, 4 * size(shape));
    // Integers: random bits as floats would include NaNs, and sums of those differ in their bits.
    std::vector<float> some(1 << 20);
    for (std::size_t i = 0; i < some.size(); ++i) some[i] = static_cast<float>(i * 7919 % 65521);
    const auto bytes = static_cast<std::int64_t>(4 * some.size());
    arena->fill(0, some.data(), bytes);
    arena->fill(1, some.data(), bytes);
    const Tensor<float> a({1 << 20, 1}, some);
    const std::int64_t rows = (1 << 20) / shape[1];  // the pattern repeats every `rows` rows
    Tensor<float> want(shape);
    const View<float> out = want.view();
    for (std::int64_t m = 0; m < shape[0]; m += rows) {
        const View<const float> b(bias[0] == shape[0] ? a.data() + m : a.data(),
                                  bias[0] == shape[0] ? Shape{rows, 1} : bias);
        add_broadcast_cpu({a.data(), Shape{rows, shape[1]}}, b, slice(out, 0, m, m + rows));
    }
    arena->expect(want.data(), 4 * size(shape));
    const auto add = [=](int set) {
        add_broadcast_cuda({arena->input<float>(set, 0), shape},
                           {arena->input<float>(set, 1), bias}, {arena->output<float>(set), shape});
    };
    Version v = row_of(op, "add_broadcast_cuda", kFloat, row_major(shape));
    v.path = name(choose_add_broadcast({arena->input<float>(0, 0), shape},
                                       {arena->input<float>(0, 1), bias},
                                       {arena->output<float>(0), shape}));
    v.check = {add, arena->outcomes()};
    report.port(v);
}

}  // namespace

void bench_all(lesson::Report& report) {
    bench_transpose(report);
    bench_copy(report);
    bench_add(report, "add, a bias to every row", {4096});
    bench_add(report, "add, a bias to every column", {8192, 1});
}

}  // namespace sixdays::day03_views
