// The argument checks of the embedding, and the choice of its path.
#include "day06_transformer_ops/embedding/embedding.hpp"

#include <cmath>

#include "common/tensor/names.hpp"
#include "common/tensor/vectorized.hpp"
#include "day06_transformer_ops/embedding/tile.hpp"

namespace sixdays::day06_transformer_ops {

// --- choice of path ------------------------------------------------------------------------------

template <class T>
EmbedPath choose_embed(const View<const T>& tokens, const View<const Same<T>>& positions,
                       const View<Same<T>>& out) {
    const auto vectors = [](const auto& v) { return has_wider(v.data, v.layout, sizeof(T)); };
    const bool all =
        vectors(tokens) && vectors(out) && (positions.rank() == 0 || vectors(positions));
    return all ? EmbedPath::vectorized : EmbedPath::one_element;
}

// --- argument checks -----------------------------------------------------------------------------
namespace {

template <class A, class B>
void check_apart(const char* op, const char* name, const View<A>& in, const View<B>& out) {
    require_memory(op, name, in);
    require_apart(op, name, in, "out", out);
}

template <class T>
void check_positions(const View<const T>& tokens, const View<const std::int64_t>& ids,
                     const View<const T>& positions, const View<const std::int64_t>& places,
                     const View<T>& out) {
    require_rank("embed", "positions", positions, 2);
    if (positions.extent(1) != tokens.extent(1)) {
        reject("embed: tokens have shape ", tokens.shape(), ", but positions ", positions.shape(),
               "; their rows are added");
    }
    (void)with_prefix("embed: places", [&] { return broadcast_to(places, ids.shape()); });
    check_apart("embed", "positions", positions, out);
    check_apart("embed", "places", places, out);
}

template <class T>
void check_tiles(const View<const T>& tokens, const View<const std::int64_t>& ids,
                 const View<const T>& positions, const View<const std::int64_t>& places,
                 const View<T>& out) {
    const bool adds = positions.rank() > 0;
    const View<const std::int64_t> at =
        adds ? View<const std::int64_t>(broadcast_to(places, ids.shape())) : ids;
    if (embedded_rows(out, ids, at)[0].rank() <= kMostRowDims && gpu::goes_forwards(out.layout) &&
        gpu::goes_forwards(tokens.layout) && (!adds || gpu::goes_forwards(positions.layout))) {
        return;
    }
    reject(
        "embed: the path 'tile' needs, after simplifying, three dimensions of ids, places and rows "
        "at "
        "most, and tables and out with ",
        gpu::kNoNegativeStride, "; tokens have ", tokens.layout, ", positions ", positions.layout,
        ", ids ", ids.layout, ", places ", at.layout, ", out ", out.layout);
}

}  // namespace

template <class T>
void check_embed(const View<const T>& tokens, const View<const std::int64_t>& ids,
                 const View<const Same<T>>& positions, const View<const std::int64_t>& places,
                 const View<Same<T>>& out, std::optional<EmbedPath> path) {
    require_rank("embed", "tokens", tokens, 2);
    Shape wanted = ids.shape();
    if (wanted.rank == kMaxRank)
        reject("embed: ids have shape ", wanted, ", and out would need one dim more than ",
               kMaxRank);
    wanted[wanted.rank++] = tokens.extent(1);
    if (out.shape() != wanted) {
        reject("embed: tokens have shape ", tokens.shape(), " and ids ", ids.shape(),
               ", so out must have ", wanted, ", not ", out.shape());
    }
    require_output("embed", out);
    check_apart("embed", "tokens", tokens, out);
    check_apart("embed", "ids", ids, out);
    if (positions.rank() > 0 || positions.data != nullptr)
        check_positions<T>(tokens, ids, positions, places, out);
    require_known_path("embed", path);
    if (path == EmbedPath::vectorized && out.size() > 0 &&
        choose_embed<T>(tokens, positions, out) != path) {
        reject(
            "embed: the path 'vectorized' needs rows of whole vectors that begin at multiples of "
            "16 "
            "bytes; tokens have ",
            tokens.layout, ", positions ", positions.layout, ", out ", out.layout);
    }
    if (path == EmbedPath::tile && out.size() > 0)
        check_tiles<T>(tokens, ids, positions, places, out);
}

void check_ids(const char* op, const char* name, const View<const std::int64_t>& ids,
               std::int64_t rows) {
    for (std::int64_t k = 0; k < ids.size(); ++k) {
        const Index at = unravel(k, ids.shape());
        if (ids(at) < 0 || ids(at) >= rows) {
            reject(op, ": ", name, " has ", ids(at), " at ", at, ", but the table has ", rows,
                   " rows");
        }
    }
}

void check_rotary(const View<const float>& in, const View<const float>& table,
                  const View<const std::int64_t>& places, const View<float>& out) {
    const int r = in.rank();
    if (r < 2 || in.extent(r - 1) % 2 != 0 || in.extent(r - 1) == 0) {
        reject("rotary: in has shape ", in.shape(),
               ", but needs (..., T, D), with an even D of pairs");
    }
    check_rows<float>("rotary", in, out);
    require_rank("rotary", "table", table, 2);
    if (table.extent(1) != in.extent(r - 1)) {
        reject("rotary: in has shape ", in.shape(), ", but table ", table.shape(),
               "; a row of it must be as long as a head");
    }
    (void)with_prefix("rotary: places", [&] {
        return broadcast_to(places, rows_along(in, r - 1).first.layout.shape);
    });
    check_apart("rotary", "table", table, out);
    check_apart("rotary", "places", places, out);
}

std::vector<double> rotary_frequencies(std::int64_t D, double base) {
    if (D < 2 || D % 2 != 0 || !(base > 0)) {
        reject("rotary_table: D is ", D, " and base ", base, ", but must be even and above 0");
    }
    std::vector<double> frequencies;
    for (std::int64_t i = 0; i < D / 2; ++i) {
        frequencies.push_back(
            std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(D)));
    }
    return frequencies;
}

Tensor<float> rotary_table(std::int64_t places, const std::vector<double>& frequencies) {
    const auto half = static_cast<std::int64_t>(frequencies.size());
    Tensor<float> table({places, 2 * half});
    for (std::int64_t p = 0; p < places; ++p) {
        for (std::int64_t i = 0; i < half; ++i) {
            const double angle = static_cast<double>(p) * frequencies[static_cast<std::size_t>(i)];
            table(p, i) = static_cast<float>(std::cos(angle));
            table(p, i + half) = static_cast<float>(std::sin(angle));
        }
    }
    return table;
}

Tensor<float> rotary_table(std::int64_t places, std::int64_t D, double base) {
    return rotary_table(places, rotary_frequencies(D, base));
}

template <class From, class To>
void check_convert(const View<const From>& in, const View<To>& out) {
    require_same_shape("convert", "in", in, "out", out);
    require_output("convert", out);
    check_apart("convert", "in", in, out);
}

const char* name(EmbedPath path) {
    static constexpr Named<EmbedPath> kNames[] = {
        {EmbedPath::one_element, "one element"},
        {EmbedPath::vectorized, "vectorized"},
        {EmbedPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

template void check_embed<float>(const View<const float>&, const View<const std::int64_t>&,
                                 const View<const float>&, const View<const std::int64_t>&,
                                 const View<float>&, std::optional<EmbedPath>);
template EmbedPath choose_embed<float>(const View<const float>&, const View<const float>&,
                                       const View<float>&);
template void check_embed<bf16>(const View<const bf16>&, const View<const std::int64_t>&,
                                const View<const bf16>&, const View<const std::int64_t>&,
                                const View<bf16>&, std::optional<EmbedPath>);
template EmbedPath choose_embed<bf16>(const View<const bf16>&, const View<const bf16>&,
                                      const View<bf16>&);
template void check_convert(const View<const float>&, const View<bf16>&);
template void check_convert(const View<const float>&, const View<f16>&);
template void check_convert(const View<const bf16>&, const View<float>&);
template void check_convert(const View<const f16>&, const View<float>&);

}  // namespace sixdays::day06_transformer_ops
