// Tests of the inputs and of the rejection helpers.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace sixdays;
using namespace sixdays::testing;

TEST_CASE("distinct values count up in steps of the factor", "[testing][small]") {
    CHECK(equal(distinct<float>({2, 3}), Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
    CHECK(equal(distinct<float>({4}, 7), Tensor<float>({4}, {7, 14, 21, 28})));
    CHECK(distinct<float>(Shape{})() == 1);
    CHECK(distinct<float>({0, 5}).size() == 0);
}

TEMPLATE_TEST_CASE("distinct values are exact and differ within the type's period",
                   "[testing][small]", float, double, bf16, f16, std::int8_t, std::uint8_t,
                   std::int16_t, std::uint16_t, std::int32_t, std::int64_t) {
    constexpr std::int64_t p = testing::detail::distinct_modulus<TestType>();
    const std::int64_t n = p < 70000 ? 2 * p : 70000;
    const ElementType type = element_type<TestType>();
    const Tensor<TestType> a = distinct<TestType>({n}), b = distinct<TestType>({n}, 7);
    std::set<double> seen;
    bool exact = true, distinct_from_each_other = true, sequence = true;
    for (std::int64_t k = 0; k < n; ++k) {
        const double x = value_of(type, elements(a.view()).at(k));
        const double y = value_of(type, elements(b.view()).at(k));
        exact = exact && x == static_cast<double>(k % (p - 1) + 1);
        sequence = sequence && y == static_cast<double>(7 * (k % (p - 1) + 1) % p);
        distinct_from_each_other = distinct_from_each_other && x != y;
        if (k < p - 1) seen.insert(y);
    }
    CHECK(exact);
    CHECK(sequence);
    CHECK(distinct_from_each_other);
    CHECK(static_cast<std::int64_t>(seen.size()) == (n < p - 1 ? n : p - 1));
    // The poison is not among them.
    CHECK(HostOut<TestType>::holding(a).matches(a));
    CHECK(contains(rejection([&] { (void)distinct<TestType>({3}, 0); }), "with factor 0"));
    CHECK(contains(rejection([&] { (void)distinct<TestType>({3}, p); }), "takes 1 to"));
}

TEST_CASE("distinct floats wrap around below 2^24 and stay exact", "[testing][small]") {
    constexpr std::int64_t p = 16776899;
    const Tensor<float> a = distinct<float>({p + 3}, 5);
    CHECK(a.data()[p - 2] == p - 5);  // 5 * (p - 1) mod p
    CHECK(a.data()[p - 1] == 5);      // the first again
    CHECK(a.data()[p] == 10);
    bool neighbours_differ = true;
    for (std::int64_t k = 0; k + 1 < a.size(); ++k) {
        neighbours_differ = neighbours_differ && a.data()[k] != a.data()[k + 1];
    }
    CHECK(neighbours_differ);
}

TEST_CASE("seeded values are reproducible and within their bounds", "[testing][small]") {
    const Tensor<float> a = seeded<float>({1000}, 1, -2.0, 3.0);
    CHECK(equal(a, seeded<float>({1000}, 1, -2.0, 3.0)));
    // A longer tensor starts with the shorter one: element k depends only on k and the seed.
    const Tensor<float> longer = seeded<float>({2000}, 1, -2.0, 3.0);
    CHECK(equal(View<const float>(longer.data(), Shape{1000}), a));
    const Tensor<float> b = seeded<float>({1000}, 2, -2.0, 3.0);
    double sum = 0, low = 9, high = -9;
    int same = 0;
    for (std::int64_t k = 0; k < 1000; ++k) {
        sum += a.data()[k];
        low = std::min<double>(low, a.data()[k]);
        high = std::max<double>(high, a.data()[k]);
        same += a.data()[k] == b.data()[k];
    }
    CHECK(low >= -2);
    CHECK(low < -1.9);
    CHECK(high <= 3);
    CHECK(high > 2.9);
    CHECK(std::abs(sum / 1000 - 0.5) < 0.2);
    CHECK(same == 0);
    // splitmix64's first outputs for state 0, published with the algorithm.
    CHECK(testing::detail::random_bits(0, 0) == 0xE220A8397B1DCDAFu);
    CHECK(testing::detail::random_bits(0, 1) == 0x6E789E6AA1B965F4u);
}

TEST_CASE("seeded integers cover their range, both ends included", "[testing][small]") {
    const Tensor<float> x = seeded_integers<float>({1000}, 3, -2, 2);
    std::set<float> seen(x.data(), x.data() + x.size());
    CHECK(seen == std::set<float>{-2, -1, 0, 1, 2});
    const Tensor<std::uint8_t> bytes = seeded_integers<std::uint8_t>({5000}, 3, 0, 255);
    CHECK(std::set<int>(bytes.data(), bytes.data() + bytes.size()).size() == 256);
}

TEST_CASE("rejection() returns the message of the exception", "[testing][small]") {
    const auto rejects = [] { throw std::invalid_argument("shape (2, 3) is not (3, 2)"); };
    const auto accepts = [] {};
    CHECK(rejection(rejects) == "shape (2, 3) is not (3, 2)");
    CHECK(rejection(accepts) == "");
    CHECK_THROWS_AS(rejection([] { throw std::runtime_error("no"); }), std::runtime_error);

    CHECK(both_reject(rejects, rejects, "(2, 3)"));
    CHECK_FALSE(both_reject(accepts, accepts, ""));
    CHECK(contains(both_reject(accepts, accepts, "(2, 3)").text, "Neither rejected"));
    CHECK(contains(both_reject(rejects, accepts, "(2, 3)").text, "not the second, rejected"));
    CHECK(contains(both_reject(accepts, rejects, "(2, 3)").text, "not the first, rejected"));
    CHECK_FALSE(both_reject(accepts, accepts, "(2, 3)"));
    CHECK_FALSE(both_reject(rejects, accepts, "(2, 3)"));
    CHECK_FALSE(both_reject(accepts, rejects, "(2, 3)"));
    CHECK_FALSE(both_reject(rejects, rejects, "(2, 4)"));
    CHECK_FALSE(both_reject(rejects, rejects, ""));
    CHECK_FALSE(both_reject(
        rejects, [] { throw std::invalid_argument("shape (2, 3) differs"); }, "(2, 3)"));
}

TEST_CASE("a result is attributed to the only mistake that produces it", "[testing][small]") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor<double> want({2}, {1, 2}), half({2}, {0.5, 1}), twice({2}, {2, 4});
    const auto cause = [&](float a, float b, const Tensor<double>& second) {
        return likely_mistake(
                   Tensor<float>({2}, {a, b}), want,
                   {{"half", half}, {"twice", second}, {"nan", Tensor<double>({2}, {nan, 2})}})
            .cause;
    };
    CHECK(cause(0.5f, 1, twice) == "half");
    CHECK(cause(2, 4.0001f, twice) == "twice");
    CHECK(cause(std::nanf(""), 2, twice) == "nan");
    CHECK(cause(1, 2, twice) == "");     // right
    CHECK(cause(2, 4.1f, twice) == "");  // none of them
    CHECK(cause(0.5f, 1, half) == "");   // either
    const Told one =
        likely_mistake(Tensor<float>({2}, {2, 4}), want, {{"one", twice}, {"one", twice}});
    CHECK(one.cause == "one");
    CHECK(cause(1, 2, want) == "");  // a mistake that does not show here
    const auto in_larger = [&](const Told& there) { return confirmed(one, [&] { return there; }); };
    CHECK(in_larger({true, ""}) == "one");
    CHECK(in_larger({false, "two"}) == "two");
    CHECK(in_larger({false, ""}) == "");
    CHECK(confirmed(one, []() -> Told { throw std::runtime_error("stopped"); }) == "");
    CHECK(confirmed({}, [&] { return one; }) == "");
}
