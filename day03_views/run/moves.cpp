#include "day03_views/run/moves.hpp"

#include <memory>

#include "common/lesson/arena.hpp"
#include "common/lesson/sampled.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day03_views {

using lesson::Arena, lesson::Trial, lesson::Version;

namespace {

// Elements that must be read: one that a stride of 0 repeats is read once.
double elements_read(const Layout& layout) {
    double n = 1;
    for (int d = 0; d < layout.rank(); ++d) {
        if (layout.stride(d) != 0) n *= static_cast<double>(layout.extent(d));
    }
    return n;
}

Layout permuted(const Shape& shape, const Dims& order) {
    return permute(row_major(shape), order);
}

}  // namespace

Version row_of(const std::string& op, const std::string& version, const Kind& kind,
               const Layout& in) {
    Version v;
    v.op = op;
    v.version = version;
    v.dtype = kind.dtype;
    v.shape = to_string(in.shape);
    v.work.bytes_read = elements_read(in) * kind.element;
    v.work.bytes_written = static_cast<double>(in.size()) * kind.element;
    return v;
}

Trial large_move(const Kind& kind, const Layout& in, const Layout& out, const Layout& seen,
                 const Move& move) {
    const auto arena =
        std::make_shared<Arena>(std::vector{bytes_of(in, kind)}, bytes_of(out, kind));
    arena->fill_with_noise(0);
    const auto input = [=](int set, const Layout& layout) {
        return UntypedIn(origin(arena->input<std::uint8_t>(set, 0), layout, kind), kind.element,
                         layout);
    };
    copy_untyped_cuda(input(0, seen),
                      {origin(arena->want<std::uint8_t>(), out, kind), kind.element, out},
                      {.path = CopyPath::one_element});
    const auto run = [=](int set) {
        move(input(set, in),
             {origin(arena->output<std::uint8_t>(set), out, kind), kind.element, out});
    };
    const auto some = [=] {
        std::string wrong;
        with_element(kind.element, [&](auto element) {
            using T = decltype(element);
            if constexpr (std::is_integral_v<T>) {  // noise, byte for byte
                auto* const first = origin(arena->output<std::uint8_t>(0), out, kind);
                const View<T> written(reinterpret_cast<T*>(first), out);
                wrong = lesson::sampled(written, [&](const Index& at) {
                    const std::int64_t from = offset(seen, at) - reach(seen).lowest;
                    return arena->gathered<T>(0, {Layout(), from}).data()[0];
                });
            }
        });
        return wrong;
    };
    return {run, arena->outcomes(), some};
}

std::vector<CopyCase> copy_cases() {
    const std::int64_t K = 1024, k = 64;
    const auto pick = [](const Shape& shape, std::int64_t begin, std::int64_t end) {
        return slice(row_major(shape), 1, begin, end).layout;
    };
    return {
        {"contiguous", row_major({k, 40}), row_major({8 * K, 8 * K})},
        {"heads", permuted({2, 16, 3, 64}, {0, 2, 1, 3}), permuted({64, K, 12, 64}, {0, 2, 1, 3})},
        {"heads", permuted({2, 16, 3, 64}, {0, 2, 1, 3}), permuted({64, K, 12, 64}, {0, 2, 1, 3}),
         kBf16, true},
        {"heads back", permuted({2, 3, 16, 64}, {0, 2, 1, 3}),
         permuted({64, 12, K, 64}, {0, 2, 1, 3}), kFloat, true},
        {"half of the columns", pick({9, 128}, 16, 80), pick({8 * K, 8 * K}, K, 5 * K)},
        {"columns, unaligned", pick({9, 128}, 17, 80), pick({8 * K, 8 * K}, 1001, 5002)},
        {"rows backwards", flip(row_major({9, 64}), 0).layout,
         flip(row_major({8 * K, 8 * K}), 0).layout},
        {"columns backwards", flip(row_major({9, 64}), 1).layout,
         flip(row_major({8 * K, 8 * K}), 1).layout},
        {"a row repeated", Layout({40, 48}, {0, 1}), Layout({8 * K, 8 * K}, {0, 1})},
        {"a column repeated", Layout({40, 48}, {1, 0}), Layout({8 * K, 8 * K}, {1, 0})},
        {"one value", Layout({40, 48}, {0, 0}), Layout({8 * K, 8 * K}, {0, 0})},
        {"transpose", column_major({65, 48}), column_major({8 * K, 8 * K})},
        {"transpose", column_major({72, 48}), column_major({8 * K, 8 * K}), kBf16},
        {"transpose", column_major({80, 48}), column_major({8 * K, 8 * K}), kUint8},
        {"transpose", column_major({65, 47}), column_major({8193, 8191}), kFloat, true},
        {"transpose of heads", permuted({2, 3, 40, 64}, {0, 1, 3, 2}),
         permuted({64, 12, K, 64}, {0, 1, 3, 2}), kFloat, true},
        {"channels last", permuted({3, 10, 20}, {1, 2, 0}), permuted({3, K, K, 16}, {1, 2, 3, 0})},
        {"channels first", permuted({3, 200, 16}, {0, 2, 1}), permuted({3, K * K, 16}, {0, 2, 1}),
         kFloat, true},
        {"7 columns, transposed", permuted({100, 7}, {1, 0}), permuted({K * K, 7}, {1, 0}), kFloat,
         true},
        {"17 columns, transposed", permuted({100, 17}, {1, 0}), permuted({64 * K, 17}, {1, 0})},
        {"17 rows, transposed", permuted({17, 100}, {1, 0}), permuted({17, 64 * K}, {1, 0}), kFloat,
         true},
        {"every other column", slice(row_major({9, 64}), 1, 0, 64, 2).layout,
         slice(row_major({8 * K, 8 * K}), 1, 0, 8 * K, 2).layout, kFloat, true},
    };
}

std::string path_of(const UntypedIn& in, const UntypedOut& out) {
    const CopyPlan plan = plan_copy(in, out);
    return std::string(name(plan.path)) + ", " + std::to_string(plan.out.element) + " bytes";
}

Version step_of_transpose(TransposePath path, const Kind& kind, std::int64_t M, std::int64_t N) {
    const std::string odd = M % 16 == 0 ? "" : ", odd rows";
    Version v = row_of("transpose", name(path) + odd, kind, row_major({M, N}));
    v.timed = [=] {
        const Move move = [path](const UntypedIn& in, const UntypedOut& out) {
            transpose_untyped_cuda(in, out, {.path = path});
        };
        return large_move(kind, row_major({M, N}), row_major({N, M}), column_major({N, M}), move);
    };
    return v;
}

}  // namespace sixdays::day03_views
