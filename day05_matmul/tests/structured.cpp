// The proof of the structured products: known answers, every structure and layout against the
// product of the whole matrix, what is rejected.
#include "day05_matmul/structured.hpp"

#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

constexpr Structure kStructures[] = {Structure::lower, Structure::upper, Structure::symmetric_lower,
                                     Structure::symmetric_upper, Structure::diagonal};

// Is a(m, k) read?
bool is_read(Structure structure, std::int64_t m, std::int64_t k) {
    if (structure == Structure::lower || structure == Structure::symmetric_lower) return k <= m;
    return structure == Structure::diagonal ? k == m : k >= m;
}

// The same matrix with a NaN wherever nothing is read.
Tensor<float> only_what_counts(Tensor<float> a, Structure structure) {
    for (std::int64_t m = 0; m < a.shape()[0]; ++m) {
        for (std::int64_t k = 0; k < a.shape()[1]; ++k) {
            if (!is_read(structure, m, k)) a(m, k) = std::nanf("");
        }
    }
    return a;
}

void check_structured(const Tensor<float>& a, Structure structure, const Tensor<float>& b,
                      const Tensor<float>& want, Lies lies = Lies::row_major) {
    CAPTURE(name(structure), to_string(b.shape()), int(lies));
    const Tensor<float> part = only_what_counts(a, structure);
    HostOut<float> reference(b.shape());
    structured_matmul_cpu(part.view(), structure, b.view(), reference.view());
    CHECK(reference.matches(want));
    const DeviceIn<float> da(part, layout_of(a.shape(), lies)), db(b, layout_of(b.shape(), lies));
    DeviceOut<float> got(layout_of(b.shape(), lies));
    structured_matmul_cuda(da.view(), structure, db.view(), got.view());
    CHECK(got.matches(want));
    CHECK(da.unchanged());
    CHECK(db.unchanged());
}

TEST_CASE("triangles, symmetric matrices and a diagonal times (3, 2): what NumPy says",
          "[day05][structured][small]") {
    const Tensor<float> a({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 10}), b({3, 2}, {1, -2, 3, 0, 5, 4});
    const auto check = [&](Structure structure, const std::vector<float>& values) {
        check_structured(a, structure, b, Tensor<float>({3, 2}, values));
    };
    check(Structure::lower, {1, -2, 19, -8, 81, 26});             // numpy.tril(a) @ b
    check(Structure::upper, {22, 10, 45, 24, 50, 40});            // numpy.triu(a) @ b
    check(Structure::symmetric_lower, {48, 26, 59, 24, 81, 26});  // tril(a) + tril(a, -1).T
    check(Structure::symmetric_upper, {22, 10, 47, 20, 71, 34});  // triu(a) + triu(a, 1).T
    check(Structure::diagonal, {1, -2, 15, 0, 50, 40});           // diag(diag(a))
}

TEST_CASE("structured products equal matmul of the whole matrix, in every layout, around a block",
          "[day05][structured][small]") {
    const auto compare = [](std::int64_t M, std::int64_t N, Lies lies) {
        const Tensor<float> a = whole({M, M}, 1), b = whole({M, N}, 2);
        for (const Structure structure : kStructures) {
            const bool mirrors =
                structure == Structure::symmetric_lower || structure == Structure::symmetric_upper;
            Tensor<float> all({M, M}), want({M, N});
            for (std::int64_t m = 0; m < M; ++m) {
                for (std::int64_t k = 0; k < M; ++k) {
                    if (is_read(structure, m, k)) all(m, k) = a(m, k);
                    if (mirrors && is_read(structure, m, k)) all(k, m) = a(m, k);
                }
            }
            matmul_cpu(all.view(), b.view(), want.view());
            check_structured(a, structure, b, want, lies);
        }
    };
    for (const Lies lies : kAllLies) compare(9, 33, lies);
    for (const auto& [M, N] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 31}, {8, 32}, {17, 1}, {0, 3}, {3, 0}}) {
        compare(M, N, Lies::row_major);
    }
}

TEST_CASE("a vector is a diagonal matrix by strides (0, 1)", "[day05][structured][small]") {
    const Tensor<float> d({3}, {2, 3, 4}), b({3, 2}, {1, -2, 3, 1, 5, 4});
    const DeviceIn<float> dd(d), db(b);
    const Layout diagonal({3, 3}, {0, 1});
    const Tensor<float> want({3, 2}, {2, -4, 9, 3, 20, 16});
    HostOut<float> reference({3, 2});
    structured_matmul_cpu({d.data(), diagonal}, Structure::diagonal, b.view(), reference.view());
    CHECK(reference.matches(want));
    DeviceOut<float> got({3, 2});
    structured_matmul_cuda({dd.view().data, diagonal}, Structure::diagonal, db.view(), got.view());
    CHECK(got.matches(want));
}

TEST_CASE("structured products: reference and kernel reject the same",
          "[day05][structured][small]") {
    const Tensor<float> a = whole({3, 3}, 1), b = whole({3, 4}, 2);
    const DeviceIn<float> da(a), db(b);
    HostOut<float> h({3, 4});
    DeviceOut<float> g({3, 4});
    const auto rejected = [&](View<const float> ha, View<const float> ga, View<const float> hb,
                              View<const float> gb, View<float> ho, View<float> go,
                              const char* words) {
        CHECK(both_refuse([&] { structured_matmul_cpu(ha, Structure::upper, hb, ho); },
                          [&] { structured_matmul_cuda(ga, Structure::upper, gb, go); }, words));
    };
    rejected(row(a.view(), 0), row(da.view(), 0), b.view(), db.view(), h.view(), g.view(),
             "structured_matmul: a has shape (3) of rank 1");
    rejected(a.view(), da.view(), row(b.view(), 0), row(db.view(), 0), h.view(), g.view(),
             "structured_matmul: b has shape (4) of rank 1");
    rejected(b.view(), db.view(), b.view(), db.view(), h.view(), g.view(),
             "structured_matmul: a (upper) has shape (3, 4) and b (3, 4), but must have (M, M) and "
             "(M, N)");
    rejected(a.view(), da.view(), rows(b.view(), 0, 2), rows(db.view(), 0, 2), h.view(), g.view(),
             "has shape (3, 3) and b (2, 4)");
    rejected(a.view(), da.view(), b.view(), db.view(), columns(h.view(), 0, 3),
             columns(g.view(), 0, 3), "b has shape (3, 4), but out has shape (3, 3)");
    rejected({nullptr, Shape{3, 3}}, {nullptr, Shape{3, 3}}, b.view(), db.view(), h.view(),
             g.view(), "a is a null pointer");
    rejected(a.view(), da.view(), {nullptr, Shape{3, 4}}, {nullptr, Shape{3, 4}}, h.view(),
             g.view(), "b is a null pointer");
    rejected(a.view(), da.view(), b.view(), db.view(), {nullptr, Shape{3, 4}},
             {nullptr, Shape{3, 4}}, "out is a null pointer");
    rejected(a.view(), da.view(), h.view(), g.view(), h.view(), g.view(), "b overlaps out");
    rejected(columns(h.view(), 0, 3), columns(g.view(), 0, 3), b.view(), db.view(), h.view(),
             g.view(), "a overlaps out");
    rejected(a.view(), da.view(), b.view(), db.view(), broadcast_to(row(h.view(), 0), {3, 4}),
             broadcast_to(row(g.view(), 0), {3, 4}), "writers of it would race");
    const auto unknown = static_cast<Structure>(9);
    CHECK(both_refuse([&] { structured_matmul_cpu(a.view(), unknown, b.view(), h.view()); },
                      [&] { structured_matmul_cuda(da.view(), unknown, db.view(), g.view()); },
                      "structured_matmul: structure 9 does not exist; it must be one of: lower, "));
    CHECK(h.untouched());
    CHECK(g.untouched());
    const View<const float> tall(a.data(), Layout({kMostRows + 1, kMostRows + 1}, {0, 0}));
    CHECK(contains(refusal([&] {
                       structured_matmul_cuda(tall, Structure::lower,
                                              {b.data(), Layout({kMostRows + 1, 1}, {0, 1})},
                                              {reinterpret_cast<float*>(std::uintptr_t{1} << 40),
                                               Shape{kMostRows + 1, 1}});
                   }),
                   "structured_matmul: out has 524281 rows"));
}

}  // namespace
