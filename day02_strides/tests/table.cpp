// Properties of every operation of Day 02, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day02_strides/pack.op.hpp"
#include "day02_strides/pitched.op.hpp"
#include "day02_strides/sweep.op.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

std::vector<Operation> operations() {
    std::vector<Operation> all = {sum_columns_operation(3, 5), sum_columns_operation(9, 4),
                                  sum_columns_operation(1, 1), sum_columns_operation(3, 0),
                                  ramp_operation(3, 5),        ramp_operation(1, 1),
                                  ramp_operation(0, 3),        pack_operation({2, 1, 8})};
    for (const Shape& shape : {Shape{3, 5}, {2, 16}, {1, 8}, {4, 1}, {0, 4}, {3, 0}}) {
        all.push_back(pack_operation(shape));
        all.push_back(pitched_operation(shape[0], shape[1]));
    }
    return all;
}

std::vector<Operation> packs(const std::vector<Layout>& layouts, std::int64_t lead_in,
                             std::int64_t lead_out) {
    std::vector<Operation> all;
    for (const Layout& layout : layouts) all.push_back(pack_from(layout, lead_in, lead_out));
    return all;
}

}  // namespace

TEST_CASE("Day 02: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day02][small]") {
    check_rejections(operations());
}

TEST_CASE("Day 02: every path is correct at any operand address, or rejects the operands",
          "[day02][small][kernels]") {
    check_results(operations());
    for (const Operation& op : {pack_operation({2, 3, 4}), pack_operation({2, 1, 3}),
                                sum_columns_operation(9, 33), ramp_operation(9, 33)}) {
        CHECK(takes_every_order(op));
    }
    for (const Shape& shape : {Shape{8, 8}, Shape{2051}, Shape{2052}}) {
        CHECK(takes_less_memory(pack_operation(shape)));
    }
}

TEST_CASE("pack supports ranks 0 to 8, broadcast dimensions and overlapping rows",
          "[day02][pack][small]") {
    // Shapes with more elements than a block has threads, all extents different.
    check_values(packs({Layout({2053}, {3}), Layout({4099}, {-1}), column_major({61, 67}),
                        Layout({67, 31}, {40, 1}), Layout({5, 19, 23}, {1, 5 * 23, 5}),
                        Layout({2, 7, 5, 33}, {7 * 5 * 33, 33, 7 * 33, 1}),   // (B, T, H, D)
                        Layout({3, 2, 5, 7, 4}, {1, 3, 6, 30, 210}),          // column-major
                        Layout({3, 1, 2, 5, 1, 7}, {70, 999, 35, 7, -5, 1}),  // contiguous
                        column_major({2, 3, 1, 4, 5, 2, 3}), column_major({2, 3, 2, 3, 2, 3, 2, 3}),
                        Layout({3, 4, 5, 6}, {1000, -7, 211, -1})},
                       1, 2));
    check_values(packs(
        {Layout(), Layout({7, 40}, {0, 1}), Layout({40, 7}, {1, 0}), Layout({3, 5, 8}, {0, 8, 1}),
         Layout({3, 5, 8}, {8, 0, 1}), Layout({11, 13}, {0, 0}), Layout({5, 6}, {1, 1})},
        0, 0));
}

TEST_CASE("pack supports every address, with float4 and without", "[day02][pack][small]") {
    std::vector<Operation> all;
    // A tile has 4,096 elements.
    for (const std::int64_t n : {1, 3, 4, 5, 31, 33, 1023, 2047, 2048, 2049, 4096, 4099, 8196}) {
        all.push_back(pack_from(row_major({n})));
        all.push_back(pack_from(row_major({n}), 1, 1));
    }
    for (std::int64_t lead = 0; lead < 16; ++lead) {
        all.push_back(pack_from(row_major({36}), lead / 4, lead % 4));
    }
    for (const std::int64_t d : {3, 4, 8, 64}) {  // permuted rows of d
        const Layout layout({2, 3, 5, d}, {15 * d, d, 3 * d, 1});
        for (const std::int64_t lead : {0, 1, 2}) {
            all.push_back(pack_from(layout, lead, 0));
            all.push_back(pack_from(layout, 0, lead));
        }
    }
    // float4 only where rows, strides and addresses allow it: each condition is violated alone, by
    // one element and by half a float4. The emulator reports a false alignment guarantee.
    for (const std::int64_t off : {0, 1, 2}) {
        for (const Layout& layout :
             {Layout({2, 3, 5, 8}, {240, 80, 16 + off, 1}),
              Layout({2, 3, 5, 8}, {240, 80 + off, 16, 1}),
              Layout({2, 3, 5, 8}, {240 + off, 80, 16, 1}),
              Layout({2, 3, 5, 8 - off}, {240, 80, 16, 1}), row_major({5000 - off})}) {
            all.push_back(pack_from(layout));
        }
    }
    check_values(all);
}

TEST_CASE("pack supports several tiles along every dimension", "[day02][pack][small]") {
    // 64 x 64 of the last two dimensions. None of these dimensions merge; with float4 and without.
    for (const std::int64_t K : {65, 68}) {
        const std::int64_t row = K + 4, matrix = 70 * row;
        check_values(packs({Layout({2, 3, 66, K}, {4 * matrix, matrix, row, 1})}, K % 2, 0));
        check_values(packs({Layout({3, 66, K}, {row, 3 * row, 1})}, 0, 1));
    }
    check_values(packs({column_major({2, 3, 66, 65}), column_major({130, 132})}, 0, 0));
}

TEST_CASE("pack is correct on a permuted tensor of a thousand heads", "[day02][pack][full]") {
    check_values(packs(
        {Layout({8, 12, 65, 16}, {65 * 12 * 16, 16, 12 * 16, 1}), column_major({301, 331})}, 0, 0));
}

TEST_CASE("pitched supports every width, pitch and address", "[day02][pitched][small]") {
    std::vector<Operation> all;
    for (const std::int64_t K : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 36, 127, 129}) {
        const std::int64_t even = (K + 3) / 4 * 4;
        for (const std::int64_t M : {1, 2, 9, 33, 67}) {
            all.push_back(pitched_operation(M, K, K + 1, K + 2, 1, 2));
            all.push_back(pitched_operation(M, K, even, even + 4));
        }
    }
    for (std::int64_t lead = 0; lead < 16; ++lead) {
        all.push_back(pitched_operation(5, 12, 16, 20, lead / 4, lead % 4));
        all.push_back(pitched_operation(5, 13, 16, 20, lead / 4, lead % 4));
    }
    for (const std::int64_t off : {1, 2}) {  // only one of the pitches is not a multiple of 4
        all.push_back(pitched_operation(5, 12, 16 + off, 20));
        all.push_back(pitched_operation(5, 12, 16, 20 + off));
    }
    all.push_back(pitched_operation(35, 515, 520, 516));  // several tiles in both dimensions
    all.push_back(pitched_operation(35, 516, 520, 516));
    check_values(all);
}

TEST_CASE("pitched supports tall and wide matrices", "[day02][pitched][full]") {
    check_values({pitched_operation(20011, 3, 4, 8), pitched_operation(20011, 3, 3, 5),
                  pitched_operation(3, 20011, 20012, 20016),
                  pitched_operation(3, 20011, 20011, 20012), pitched_operation(1031, 32, 40, 36),
                  pitched_operation(1031, 516, 520, 516)});
}
