// Writes random cases, and what common/tensor and the emulator say to them, as a script for a page:
//   explorer_cases > cases.js
// A case is {op, args, gives}, or {op, args, rejected: the sentence}.
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>

#include "common/tensor/simplify.hpp"
#include "common/tensor/transform.hpp"
#include "docs/site/explorers/cases.hpp"

namespace sixdays::explorers {
namespace {

std::mt19937 dice(20180101);

}  // namespace

int roll(int least, int most) {
    return least + static_cast<int>(dice() % static_cast<unsigned>(most - least + 1));
}

void write(const std::string& op, const std::string& args,
           const std::function<std::string()>& ask) {
    std::string answer;
    try {
        answer = "\"gives\": " + ask();
    } catch (const std::invalid_argument& rejection) {
        answer = "\"rejected\": \"" + std::string(rejection.what()) + "\"";
    }
    std::printf("{\"op\": \"%s\", \"args\": [%s], %s},\n", op.c_str(), args.c_str(),
                answer.c_str());
}

namespace {

// --- as JSON -------------------------------------------------------------------------------------

using explorers::json;

std::string json(const Dims& dims) {
    std::string text = to_string(dims);
    text.front() = '[', text.back() = ']';
    return text;
}
std::string json(const Layout& layout, std::int64_t first = 0) {
    return "{\"shape\": " + json(layout.shape) + ", \"strides\": " + json(layout.strides) +
           ", \"first\": " + std::to_string(first) + "}";
}
std::string json(const Cut& cut) {
    return json(cut.layout, cut.first);
}

// --- layouts and transforms ----------------------------------------------------------------------

Shape random_shape(int least_rank, int most) {
    Shape shape = Dims::filled(roll(least_rank, 4), 1);
    for (int d = 0; d < shape.rank; ++d) {
        shape[d] = once_in(15) ? 0 : once_in(5) ? 1 : roll(1, most);
    }
    return shape;
}

Dims random_order(int rank) {
    Dims order = Dims::filled(rank, 0);
    for (int d = 0; d < rank; ++d) order[d] = d;
    for (int d = rank - 1; d > 0; --d) std::swap(order[d], order[roll(0, d)]);
    return order;
}

// Row-major and then transposed, flipped, pitched; or any strides at all.
Layout random_layout(int least_rank = 0, int most = 5) {
    Layout layout = row_major(random_shape(least_rank, most));
    if (once_in(3)) {
        for (int d = 0; d < layout.rank(); ++d) layout.stride(d) = roll(-7, 7);
        return layout;
    }
    if (once_in(3) && layout.rank() > 0) {
        const int outer = roll(0, layout.rank() - 1), pad = roll(1, 3);
        for (int d = 0; d < outer; ++d) layout.stride(d) += pad;
    }
    if (once_in(2)) layout = permute(layout, random_order(layout.rank()));
    for (int d = 0; d < layout.rank(); ++d) {
        if (once_in(6)) layout.stride(d) = -layout.stride(d);
        if (once_in(12)) layout.stride(d) *= roll(0, 3);
    }
    return layout;
}

std::string offsets(const Layout& layout) {
    std::string text;
    Index index = Dims::filled(layout.rank(), 0);
    for (std::int64_t i = 0; i < layout.size(); ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(offset(layout, index));
        for (int d = layout.rank() - 1; d >= 0 && ++index[d] == layout.extent(d); --d) index[d] = 0;
    }
    return "[" + text + "]";
}

void write_answers(const Layout& layout) {
    const Reach r = reach(layout);
    write("answers", json(layout), [&] {
        return "{\"reach\": {\"lowest\": " + std::to_string(r.lowest) +
               ", \"highest\": " + std::to_string(r.highest) +
               "}, \"span\": " + std::to_string(required_span(layout)) +
               ", \"contiguous\": " + json(is_contiguous(layout)) +
               ", \"injective\": " + json(is_injective(layout)) +
               ", \"simplified\": " + json(simplify(layout)[0]) + "}";
    });
}

void write_layouts() {
    for (int i = 0; i < 800; ++i) {
        const Layout layout = random_layout();
        write_answers(layout);
        if (layout.size() <= 100) write("offsets", json(layout), [&] { return offsets(layout); });
    }
    // Around 2^16 elements, where is_injective stops enumerating: proved, proved backwards,
    // refuted, and short of a proof.
    for (const auto& [rows, columns] : {std::pair{256, 256}, {256, 257}, {512, 128}, {513, 128}}) {
        write_answers(Layout({rows, columns}, {columns, 1}));
        write_answers(Layout({rows, columns}, {-columns, 1}));
        write_answers(Layout({rows, columns}, {0, 1}));
        write_answers(Layout({rows, columns}, {2 * columns - 3, 2}));
    }
    for (int i = 0; i < 200; ++i) {
        Shape shape = random_shape(0, 6), strides = random_shape(0, 6);
        if (once_in(4) && shape.rank > 0) shape[roll(0, shape.rank - 1)] = roll(-3, -1);
        write("row_major", json(shape), [&] { return json(row_major(shape)); });
        write("column_major", json(shape), [&] { return json(column_major(shape)); });
        write("layout", json(shape) + ", " + json(strides),
              [&] { return json(Layout(shape, strides)); });
    }
}

// One extent made of two, two made of one, 1s put in: often a reshape that is possible.
Shape random_reshape(const Layout& layout) {
    Shape shape;
    for (int d = 0; d < layout.rank(); ++d) {
        std::int64_t extent = layout.extent(d);
        while (d + 1 < layout.rank() && once_in(2)) extent *= layout.extent(++d);
        const std::int64_t part = once_in(2) ? roll(2, 4) : 1;
        if (part > 1 && extent % part == 0 && shape.rank < kMaxRank) {
            shape[shape.rank++] = part;
            extent /= part;
        }
        if (shape.rank < kMaxRank) shape[shape.rank++] = extent;
        if (once_in(8) && shape.rank < kMaxRank) shape[shape.rank++] = 1;
    }
    if (once_in(12) && shape.rank > 0) shape[roll(0, shape.rank - 1)] = roll(-2, 6);
    for (int i = 0; i < 2; ++i) {
        if (once_in(5) && shape.rank > 0) shape[roll(0, shape.rank - 1)] = -1;
    }
    return shape;
}

Shape random_broadcast(const Layout& layout) {
    Shape shape;
    for (int more = roll(0, 2); more > 0; --more) shape[shape.rank++] = roll(0, 3);
    for (int d = 0; d < layout.rank(); ++d) {
        shape[shape.rank++] = layout.extent(d) == 1 ? roll(-1, 4) : layout.extent(d);
    }
    if (once_in(5)) shape = random_shape(0, 4);
    return shape;
}

// Now and then one that is not there, to be rejected.
int random_dim(int rank) {
    return roll(-rank - (once_in(20) ? 1 : 0), rank == 0 || once_in(20) ? rank : rank - 1);
}

void write_transforms() {
    for (int i = 0; i < 400; ++i) {
        Layout layout = random_layout(once_in(10) ? 0 : 1, 4);
        const int rank = layout.rank();
        const int dim = random_dim(rank), other = random_dim(rank);
        const int wrapped = dim < 0 ? dim + rank : dim;
        const int extent = wrapped < rank ? static_cast<int>(layout.extent(wrapped)) : 1;
        const int begin = roll(once_in(12) ? -1 : 0, extent),
                  end = roll(begin - once_in(9), extent + once_in(9));
        const int step = once_in(2) ? 1 : roll(once_in(9) ? 0 : 1, 3);
        const std::string given = json(layout), number = ", " + std::to_string(dim);
        const auto more = [](int n) { return ", " + std::to_string(n); };
        write("slice", given + number + more(begin) + more(end) + more(step),
              [&] { return json(slice(layout, dim, begin, end, step)); });
        write("select", given + number + more(begin),
              [&] { return json(select(layout, dim, begin)); });
        write("flip", given + number, [&] { return json(flip(layout, dim)); });
        write("transpose", given, [&] { return json(transpose(layout)); });
        write("transpose", given + number + more(other),
              [&] { return json(transpose(layout, dim, other)); });
        Dims order = random_order(rank);
        if (rank > 0 && once_in(2)) order[roll(0, rank - 1)] -= rank;
        if (rank > 0 && once_in(6)) order[roll(0, rank - 1)] = roll(-rank - 1, rank);
        if (once_in(12)) order.rank = roll(0, 4);
        write("permute", given + ", " + json(order), [&] { return json(permute(layout, order)); });
        const Shape wide = random_broadcast(layout), shape = random_reshape(layout);
        write("broadcast_to", given + ", " + json(wide),
              [&] { return json(broadcast_to(layout, wide)); });
        write("reshape", given + ", " + json(shape), [&] { return json(reshape(layout, shape)); });
    }
}

}  // namespace
}  // namespace sixdays::explorers

int main() {
    using namespace sixdays::explorers;
    std::printf("const cases = [\n");
    try {
        write_layouts();
        write_transforms();
        write_loads();
        write_tiles();
        write_sums();
    } catch (const std::logic_error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    std::printf("];\n");
}
