// The CPU references.
#include <cmath>

#include "day06_transformer_ops/embedding/embedding.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// One row of out per id. embed_cpu has checked ids and places, and broadcast them to one shape.
template <class T>
void embed_loop(View<const T> tokens, View<const std::int64_t> ids, View<const T> positions,
                View<const std::int64_t> places, const Rows<T>& out) {
    for (std::int64_t r = 0; r < out.count(); ++r) {
        const Index at = unravel(r, ids.shape());
        const Row<T> y = out.row(r);
        for (std::int64_t c = 0; c < out.length; ++c) {
            y[c] = tokens(ids(at), c);
            if (positions.rank() > 0) {
                y[c] = T(float(y[c]) + float(positions(places(at), c)));
            }
        }
    }
}

template <class From, class To>
void convert_loop(View<const From> in, View<To> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = To(float(in(at)));
    }
}

void rotary_loop(const Rows<const float>& in, View<const float> table,
                 View<const std::int64_t> places, Pairing pairing, const Rows<float>& out) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const float> x = in.row(r);
        const Row<float> y = out.row(r);
        const std::int64_t place = places(unravel(r, places.shape()));
        const std::int64_t half = in.length / 2;
        // [rotary]
        for (std::int64_t i = 0; i < half; ++i) {
            const bool near = pairing == Pairing::neighbours;
            const std::int64_t first = near ? 2 * i : i, second = near ? 2 * i + 1 : i + half;
            const float a = x[first], b = x[second];
            const float c = table(place, i), s = table(place, i + half);
            y[first] = std::fma(a, c, -(b * s));
            y[second] = std::fma(a, s, b * c);
        }
        // [rotary]
    }
}

}  // namespace

template <class T>
void embed_cpu(View<const T> tokens, View<const std::int64_t> ids, View<const Same<T>> positions,
               View<const std::int64_t> places, View<Same<T>> out) {
    check_embed<T>(tokens, ids, positions, places, out);
    check_ids("embed", "ids", ids, tokens.extent(0));
    const bool adds = positions.rank() > 0;
    if (adds) check_ids("embed", "places", places, positions.extent(0));
    embed_loop<T>(tokens, ids, positions,
                  adds ? View<const std::int64_t>(broadcast_to(places, ids.shape())) : ids,
                  rows_along(out, out.rank() - 1));
}

void rotary_cpu(View<const float> in, View<const float> table, View<const std::int64_t> places,
                Pairing pairing, View<float> out) {
    check_rotary(in, table, places, out);
    check_ids("rotary", "places", places, table.extent(0));
    if (out.size() == 0) return;
    const Rows<const float> rows = rows_along(in, in.rank() - 1);
    rotary_loop(rows, table, broadcast_to(places, rows.first.shape()), pairing,
                rows_along(out, out.rank() - 1));
}

template <class From, class To>
void convert_cpu(View<const From> in, View<To> out) {
    check_convert(in, out);
    convert_loop(in, out);
}

template void embed_cpu(View<const float>, View<const std::int64_t>, View<const float>,
                        View<const std::int64_t>, View<float>);
template void embed_cpu(View<const bf16>, View<const std::int64_t>, View<const bf16>,
                        View<const std::int64_t>, View<bf16>);
template void convert_cpu(View<const float>, View<bf16>);
template void convert_cpu(View<const float>, View<f16>);
template void convert_cpu(View<const bf16>, View<float>);
template void convert_cpu(View<const f16>, View<float>);

}  // namespace sixdays::day06_transformer_ops
