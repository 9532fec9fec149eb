// One workspace for all calls: any operation, shape and path, in any order, whatever previous calls
// left in it.
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

// Argmax, argmin and the reductions of these shapes. Most of them take the path split.
std::vector<Operation> all_of(const std::vector<std::pair<Shape, Dims>>& shapes) {
    std::vector<Operation> all;
    for (const auto& [shape, dims] : shapes) {
        for (const bool largest : {true, false}) {
            if (dims.rank > 1) continue;
            all.push_back(argmax_operation(shape, static_cast<int>(dims[0]), largest));
        }
        for (const Reduction what : kReductions) {
            all.push_back(reduce_operation(what, shape, dims));
            if (what == Reduction::product) {  // it stays small
                all.back().operands[0].values = [](std::int64_t k) {
                    return k % 997 == 5 ? -2.0 : 1.0;
                };
            }
        }
    }
    return all;
}

TEST_CASE("operations, shapes and paths share one workspace, in any order",
          "[day04][argmax][argmin][reduce][workspace][small]") {
    CHECK(shares_a_workspace(all_of({{{1, 40000}, {1}},
                                     {{1, 9000}, {1}},
                                     {{3, 8192}, {1}},
                                     {{500, 33}, {1}},
                                     {{64, 40}, {0}},
                                     {{2, 50, 90}, {1, 2}},
                                     {{1, 1500}, {1}}}),
                             200));
}

TEST_CASE("long lines share one workspace too",
          "[day04][argmax][argmin][reduce][workspace][full]") {
    CHECK(shares_a_workspace(
        all_of({{{1, 300000}, {1}}, {{1, 9000}, {1}}, {{263, 8192}, {1}}, {{1024, 1100}, {1}}}),
        60));
}

}  // namespace
