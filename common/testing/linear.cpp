#include "common/testing/linear.hpp"

#include <algorithm>

#include "common/tensor/index.hpp"

namespace sixdays::testing {

std::optional<Linear> linear(const Shape& shape, const Offset& at) {
    const Index first = Dims::filled(shape.rank, 0);
    Linear found{at(first), first};
    for (int d = 0; d < shape.rank; ++d) {
        Index next = first;
        next[d] = 1;
        if (shape[d] > 1) found.step[d] = at(next) - found.base;
    }
    for (std::int64_t k = 0; k < size(shape); ++k) {
        const Index index = unravel(k, shape);
        std::int64_t sum = found.base;
        for (int d = 0; d < shape.rank; ++d) sum += found.step[d] * index[d];
        if (sum != at(index)) return std::nullopt;
    }
    return found;
}

std::string text_of(const std::string& array, const Linear& at, const std::string& dims) {
    std::string text;
    // "in[3 - i]" reads better than "in[-i + 3]"
    const bool base_first = at.base > 0 && at.step[0] < 0;
    const auto add = [&text](std::int64_t n, const std::string& letter) {
        if (n == 0) return;
        text += text.empty() ? (n < 0 ? "-" : "") : (n < 0 ? " - " : " + ");
        const std::int64_t size = std::abs(n);
        if (size != 1 || letter.empty()) text += std::to_string(size);
        if (!letter.empty()) text += (size != 1 ? " " : "") + letter;
    };
    if (base_first) add(at.base, "");
    for (std::size_t d = 0; d < dims.size(); ++d) {
        add(at.step[static_cast<int>(d)], std::string(1, dims[d]));
    }
    if (!base_first) add(at.base, "");
    return array + "[" + (text.empty() ? "0" : text) + "]";
}

std::string text_of(const std::string& array, std::int64_t at) {
    return array + "[" + std::to_string(at) + "]";
}

std::string name_of(const std::string& out, const std::string& dims) {
    std::string text = out + "(";
    for (std::size_t d = 0; d < dims.size(); ++d) {
        text += (d > 0 ? ", " : "") + std::string(1, dims[d]);
    }
    return text + ")";
}

std::string mirrored(const Shape& shape,
                     const std::function<bool(const Index&, const Index&)>& has) {
    if (shape.rank != 2) return "";
    for (const std::int64_t side : {std::max(shape[0], shape[1]), std::int64_t{64},
                                    std::int64_t{32}, std::int64_t{16}, std::int64_t{8}}) {
        std::int64_t seen = 0;
        bool all = true;
        for (std::int64_t k = 0; all && k < size(shape); ++k) {
            const Index i = unravel(k, shape);
            Index of = i;
            of[0] = i[0] / side * side + i[1] % side;
            of[1] = i[1] / side * side + i[0] % side;
            if (of[0] >= shape[0] || of[1] >= shape[1]) continue;
            all = has(i, of);
            seen += i != of;
        }
        if (!all || seen == 0) continue;
        const std::string tile = std::to_string(side) + " x " + std::to_string(side);
        return side >= shape[0] && side >= shape[1]
                   ? "rows and columns are swapped."
                   : "rows and columns are swapped inside each tile of " + tile +
                         ": is the thread's x used as its y?";
    }
    return "";
}

}  // namespace sixdays::testing
