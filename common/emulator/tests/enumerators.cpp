// CUDA's enumerators have the toolkit's values. This file is compiled with the emulator's headers
// and with the toolkit's; CMakeLists.txt lists the names that both have in enumerators.inc.
#include <cublasLt.h>
#include <cublasXt.h>
#include <cufft.h>
#include <curand.h>

#include <string>
#include <utility>
#include <vector>

using Enumerators = std::vector<std::pair<std::string, long long>>;

Enumerators enumerators_of_toolkit();

#if SIXDAYS_EMULATED
#include "common/testing/catch.hpp"

static Enumerators enumerators_of_emulator() {
#else
Enumerators enumerators_of_toolkit() {
#endif
    return {
#define ENUMERATOR(name) {#name, static_cast<long long>(name)},
#include "enumerators.inc"
    };
}

#if SIXDAYS_EMULATED
TEST_CASE("CUDA's enumerators have the values of the CUDA Toolkit's headers") {
    const Enumerators ours = enumerators_of_emulator(), theirs = enumerators_of_toolkit();
    REQUIRE(ours.size() == theirs.size());
    CHECK(ours.size() > 250);
    for (std::size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] == theirs[i]);
}
#endif
