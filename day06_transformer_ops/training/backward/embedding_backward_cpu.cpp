// The CPU reference.
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"

#include "day06_transformer_ops/embedding/embedding.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

void embed_backward_loop(const Rows<const float>& grad, View<const std::int64_t> ids,
                         View<const std::int64_t> places, const EmbedGradients& d) {
    for (std::int64_t c = 0; c < grad.length; ++c) {
        for (std::int64_t r = 0; r < grad.count(); ++r) {
            const Index at = unravel(r, ids.shape());
            const float g = grad.row(r)[c];
            d.tokens(ids(at), c) += g;
            if (d.positions.rank() > 0) {
                d.positions(places(at), c) += g;
            }
        }
    }
}

}  // namespace

void embed_backward_cpu(View<const float> grad, View<const std::int64_t> ids,
                        View<const std::int64_t> places, const EmbedGradients& d) {
    check_embed_backward(grad, ids, places, d);
    check_ids("embed_backward", "ids", ids, d.tokens.extent(0));
    if (d.positions.rank() > 0) {
        check_ids("embed_backward", "places", places, d.positions.extent(0));
    }
    embed_backward_loop(rows_along(grad, grad.rank() - 1), ids, places_of(ids, places, d), d);
}

}  // namespace sixdays::day06_transformer_ops
