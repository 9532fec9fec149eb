#include "day06_transformer_ops/gpt2/gpu/device_model.hpp"

#include <algorithm>

#include "day06_transformer_ops/gpt2/weights/linear.hpp"
#include "day06_transformer_ops/gpt2/weights/phase_shared.hpp"

namespace sixdays::gpt2 {

DeviceModel::Block::Block(const BlockWeights& host, float eps)
    : attention_norm(host.attention_norm, eps),
      mlp_norm(host.mlp_norm, eps),
      qkv(host.qkv),
      attention_output(host.attention_output),
      up(host.up),
      down(host.down) {}

DeviceModel::DeviceModel(const ModelWeights& host)
    : head_dim_(host.config.head_dim()),
      tokens_(host.token_embedding),
      positions_(host.position_embedding),
      final_norm_(host.final_norm, host.config.epsilon) {
    if (host.head.data != host.token_embedding.data) own_head_.emplace(host.head);
    for (const BlockWeights& block : host.blocks) blocks_.emplace_back(block, host.config.epsilon);
}

bool phase_takes(const DeviceMatrix& w, int rows_kept) {
    return choose_linear(w) == LinearPath::warp_per_row &&
           phase_fits(w.K, rows_kept, slice_of(w.type));
}

bool phases_take(const BlockMatrices& block) {
    return phase_takes(block.qkv, kNormKeeps) && phase_takes(block.attention_output, 0) &&
           phase_takes(block.up, kNormKeeps) && phase_takes(block.down, 0);
}

bool DeviceModel::takes_one_token() const {
    const auto takes = [](const Block& b) {
        return phases_take({b.qkv.weight.matrix(), b.attention_output.weight.matrix(),
                            b.up.weight.matrix(), b.down.weight.matrix()});
    };
    return takes_head(head_dim_) && phase_takes(head(), kNormKeeps) &&
           std::all_of(blocks_.begin(), blocks_.end(), takes);
}

}  // namespace sixdays::gpt2
