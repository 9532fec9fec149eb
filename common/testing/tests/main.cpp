// Cases that fail or check nothing, for main.cpp. Hidden (the tags begin with a dot);
// CMakeLists.txt runs them one by one and expects status 1.
#include "common/testing/catch.hpp"

TEST_CASE("four checks fail, and 4 would mean skipped", "[.four_failures]") {
    for (int i = 0; i < 4; ++i) CHECK(i == -1);
}

TEST_CASE("nothing is checked", "[.no_checks]") {}

TEST_CASE("a failure is not hidden by checks that pass", "[.one_failure]") {
    CHECK(1 == 1);
    CHECK(1 == 2);
}
