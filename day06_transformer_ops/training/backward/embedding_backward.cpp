// The argument checks of the embedding's backward pass.
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr const char* kOp = "embed_backward";

void check_table(const char* name, const View<float>& table, const View<const float>& grad,
                 const View<const std::int64_t>& ids, const View<const std::int64_t>& places) {
    require_rank(kOp, name, table, 2);
    require_gradient(kOp, name, table, {table.extent(0), grad.extent(grad.rank() - 1)});
    require_apart(kOp, "grad", grad, name, table);
    require_apart(kOp, "ids", ids, name, table);
    require_apart(kOp, "places", places, name, table);
}

}  // namespace

void check_embed_backward(const View<const float>& grad, const View<const std::int64_t>& ids,
                          const View<const std::int64_t>& places, const EmbedGradients& d,
                          std::optional<EmbedBackwardPath> path) {
    require_known_path(kOp, path);
    if (grad.rank() == 0 || rows_along(grad, grad.rank() - 1).first.shape() != ids.shape()) {
        reject(kOp, ": ids have shape ", ids.shape(), ", but grad ", grad.shape(),
               "; it must have a row for each id");
    }
    require_memory(kOp, "grad", grad);
    require_memory(kOp, "ids", ids);
    check_table("d_tokens", d.tokens, grad, ids, places);
    if (d.positions.rank() == 0) return;
    (void)stretched(kOp, "places", places, ids.shape());
    check_table("d_positions", d.positions, grad, ids, places);
    require_apart(kOp, "d_tokens", d.tokens, "d_positions", d.positions);
}

View<const std::int64_t> places_of(const View<const std::int64_t>& ids,
                                   const View<const std::int64_t>& places,
                                   const EmbedGradients& d) {
    return d.positions.rank() == 0 ? ids : broadcast_to(places, ids.shape());
}

const char* name(EmbedBackwardPath path) {
    static constexpr Named<EmbedBackwardPath> kNames[] = {
        {EmbedBackwardPath::column_per_thread, "column per thread"},
        {EmbedBackwardPath::atomics, "atomics"},
        {EmbedBackwardPath::word_a_block, "word a block"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day06_transformer_ops
