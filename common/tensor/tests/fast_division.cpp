// FastDivisor against integer division. The product's error grows with n, and n = k * d - 1 has the
// quotient closest to the next integer: if any n fails for a divisor d, so does the largest such n
// below 2^31. That n is tested for every divisor.
#include <cstdint>

#include "common/tensor/fast_division.hpp"
#include "common/testing/testing.hpp"

using sixdays::FastDivisor;
using sixdays::testing::rejection;

namespace {

constexpr std::uint32_t kLargest = INT32_MAX;  // 2^31 - 1, for numerators and divisors

bool divides(const FastDivisor& d, std::uint32_t n) {
    return d.quotient(n) == n / d.divisor && d.remainder(n) == n % d.divisor;
}

// The smallest and the largest numerators next to a multiple of the divisor.
bool divides_at_the_edges(std::uint32_t divisor) {
    const FastDivisor d(divisor);
    const std::uint32_t last = kLargest / divisor * divisor;  // the largest multiple
    bool ok = divides(d, 0) && divides(d, 1) && divides(d, divisor - 1) && divides(d, divisor);
    ok = ok && divides(d, last - 1) && divides(d, last) && divides(d, kLargest);
    return ok && divides(d, last / 2) && divides(d, kLargest - 1);
}

TEST_CASE("division by 7 multiplies by 2^34 / 7, rounded up", "[tensor][small]") {
    const FastDivisor by_7(7);
    CHECK(by_7.multiplier == 2454267027u);
    CHECK(by_7.shift == 34);
    CHECK(by_7.quotient(13) == 1);
    CHECK(by_7.quotient(14) == 2);
    CHECK(by_7.remainder(2147483647) == 1);  // 2^31 - 1 = 7 * 306,783,378 + 1
    CHECK(FastDivisor().quotient(2147483647) == 2147483647);
    CHECK(FastDivisor(1).quotient(2147483647) == 2147483647);
    CHECK(FastDivisor(2147483647).quotient(2147483646) == 0);
    CHECK(FastDivisor(2147483647).quotient(2147483647) == 1);
}

TEST_CASE("quotients are right for numerators to 2^16 and divisors to 400", "[tensor][small]") {
    for (std::uint32_t d = 1; d <= 400; ++d) {
        const FastDivisor divisor(d);
        bool ok = true;
        for (std::uint32_t n = 0; n <= 65536; ++n) ok &= divides(divisor, n);
        CAPTURE(d);
        REQUIRE(ok);
    }
}

TEST_CASE("quotients are right for divisors around every power of two", "[tensor][small]") {
    for (int k = 1; k < 31; ++k) {
        for (std::int64_t d = (std::int64_t{1} << k) - 3; d <= (std::int64_t{1} << k) + 3; ++d) {
            if (d < 1 || d > kLargest) continue;
            CAPTURE(d);
            CHECK(divides_at_the_edges(static_cast<std::uint32_t>(d)));
        }
    }
    for (std::uint32_t d = kLargest; d > kLargest - 1000; --d) {
        CAPTURE(d);
        CHECK(divides_at_the_edges(d));
    }
}

TEST_CASE("quotients are right for two million divisors", "[tensor][small]") {
    std::uint32_t first_wrong = 0;
    for (std::uint32_t d = 1; d <= 1000000 && first_wrong == 0; ++d) {
        if (!divides_at_the_edges(d)) first_wrong = d;
    }
    for (std::uint32_t d = 1000003; d < kLargest - 2003 && first_wrong == 0; d += 2003) {
        if (!divides_at_the_edges(d)) first_wrong = d;
    }
    CHECK(first_wrong == 0);
}

TEST_CASE("a shift one bit shorter gives a wrong quotient", "[tensor][small]") {
    // 2^33 instead of 2^34 is not enough, so the proof's bound is tight: k = 31 + l is needed.
    const std::uint32_t d = 7, n = kLargest / 7 * 7 - 1;
    const std::uint64_t short_multiplier = ((std::uint64_t{1} << 33) + d - 1) / d;
    CHECK((n * short_multiplier) >> 33 != n / d);
    CHECK(FastDivisor(d).quotient(n) == n / d);
}

TEST_CASE("divisors outside 1 .. 2^31 - 1 are rejected", "[tensor][small]") {
    CHECK(rejection([] { (void)FastDivisor(0); }) ==
          "a FastDivisor of 0 was asked for, but it must lie in 1 .. 2^31 - 1");
    CHECK(rejection([] { (void)FastDivisor(-3); }) != "");
    CHECK(rejection([] { (void)FastDivisor(std::int64_t{1} << 31); }) != "");
}

}  // namespace
