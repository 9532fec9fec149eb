// Specific structured products: known answers, a diagonal as a vector, and the messages of
// rejections.
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/structured.op.hpp"
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

TEST_CASE("triangles, symmetric matrices and a diagonal times (3, 2) equal NumPy",
          "[day05][structured][small]") {
    const auto check = [&](Structure structure, const std::vector<float>& values) {
        Operation op = structured_operation(structure, 3, 2);
        const Values a = list({1, 2, 3, 4, 5, 6, 7, 8, 10});
        op.operands[0].with(
            [=](std::int64_t i) { return is_read(structure, i / 3, i % 3) ? a(i) : double(NAN); });
        op.operands[1].with(list({1, -2, 3, 0, 5, 4}));
        know(op, values);
        CHECK(computes_its_result(op));
    };
    check(Structure::lower, {1, -2, 19, -8, 81, 26});             // numpy.tril(a) @ b
    check(Structure::upper, {22, 10, 45, 24, 50, 40});            // numpy.triu(a) @ b
    check(Structure::symmetric_lower, {48, 26, 59, 24, 81, 26});  // tril(a) + tril(a, -1).T
    check(Structure::symmetric_upper, {22, 10, 47, 20, 71, 34});  // triu(a) + triu(a, 1).T
    check(Structure::diagonal, {1, -2, 15, 0, 50, 40});           // diag(diag(a))
}

TEST_CASE("a vector is a diagonal matrix by strides (0, 1)", "[day05][structured][small]") {
    Operation op = structured_operation(Structure::diagonal, 3, 2);
    op.operands[0].with([](std::int64_t i) { return 2 + double(i % 3); });
    op.operands[0].placed(Layout({3, 3}, {0, 1}));
    op.operands[1].with(list({1, -2, 3, 1, 5, -4}));
    know(op, {2.0f, -4.0f, 9.0f, 3.0f, 20.0f, -16.0f});
    CHECK(computes_its_result(op));
}

TEST_CASE("structured products report what does not match", "[day05][structured][small]") {
    const auto says = [](const Shape& a, const Shape& b, const Shape& out,
                         const std::string& words) {
        Operation op = structured_operation(Structure::upper, 3, 4);
        op.operands[0].shape = a, op.operands[1].shape = b, op.operands[2].shape = out;
        CHECK(rejects_as_it_is(op, words));
    };
    says({3, 4}, {3, 4}, {3, 4},
         "a (upper) has shape (3, 4) and b (3, 4), but must have (M, M) and (M, N)");
    says({3, 3}, {2, 4}, {2, 4},
         "a (upper) has shape (3, 3) and b (2, 4), but must have (M, M) and (M, N)");
    CHECK(rejects_as_it_is(structured_operation(static_cast<Structure>(9), 3, 4),
                           "structure 9 does not exist; it must be one of: lower, upper, symmetric "
                           "lower, symmetric upper, diagonal"));
    const float some = 0;
    const View<const float> tall(&some, Layout({kMostRows + 1, kMostRows + 1}, {0, 0}));
    CHECK(contains(rejection([&] {
                       structured_matmul_cuda(tall, Structure::lower,
                                              {&some, Layout({kMostRows + 1, 1}, {0, 1})},
                                              {reinterpret_cast<float*>(std::uintptr_t{1} << 40),
                                               Shape{kMostRows + 1, 1}});
                   }),
                   "structured_matmul: out has 524281 rows"));
}

}  // namespace
