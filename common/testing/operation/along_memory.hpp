/// @file
/// For descriptors of operations that treat all elements alike: what a path may be asked, said by
/// the addresses of elements in the order in which the first operand, an output, lies in memory.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/operation/operation.hpp"

namespace sixdays::testing {

/// The same dims of all operands, those of extent 1 left out, in the order of the first one's
/// strides: the smallest is the last.
inline std::vector<Layout> along_memory(const std::vector<Call::Argument>& operands) {
    const Layout& first = operands[0].layout;
    std::vector<int> order;
    for (int d = 0; d < first.rank(); ++d) {
        if (first.extent(d) != 1) order.push_back(d);
    }
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return std::abs(first.stride(a)) > std::abs(first.stride(b)); });
    std::vector<Layout> all;
    for (const Call::Argument& x : operands) {
        Layout& sorted = all.emplace_back();
        sorted.shape.rank = sorted.strides.rank = static_cast<int>(order.size());
        for (std::size_t d = 0; d < order.size(); ++d) {
            sorted.shape.value[d] = x.layout.extent(order[d]);
            sorted.strides.value[d] = x.layout.stride(order[d]);
        }
    }
    return all;
}

/// Are the elements vectors of 16 bytes, in all operands: neighbours, of which the first is at a
/// multiple of 16?
inline bool are_vectors(const std::vector<Call::Argument>& operands, std::int64_t element_bytes) {
    const std::int64_t n = operands[0].layout.size(), each = 16 / element_bytes;
    const std::vector<Layout> layouts = along_memory(operands);
    std::vector<std::intptr_t> first(operands.size());
    bool all = n % each == 0;
    for (std::int64_t k = 0; all && k < n; ++k) {
        const Index at = unravel(k, layouts[0].shape);
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const auto address = reinterpret_cast<std::intptr_t>(operands[i].data) +
                                 offset(layouts[i], at) * element_bytes;
            if (k % each == 0) first[i] = address;
            all &= first[i] % 16 == 0 && address == first[i] + k % each * element_bytes;
        }
    }
    return all;
}

/// Can tiles cover them? No stride is negative, and at most 4 dims are left where two become one
/// wherever all operands go on in the outer one where the inner one ends.
inline bool are_tiles(const std::vector<Call::Argument>& operands) {
    const std::vector<Layout> layouts = along_memory(operands);
    int left = 0;
    bool forwards = true;
    for (int d = 0; d < layouts[0].rank(); ++d) {
        bool merges = d + 1 < layouts[0].rank();
        for (const Layout& x : layouts) {
            forwards &= x.stride(d) >= 0;
            merges = merges && x.stride(d) == x.stride(d + 1) * x.extent(d + 1);
        }
        left += merges ? 0 : 1;
    }
    return forwards && left <= 4;
}

}  // namespace sixdays::testing
