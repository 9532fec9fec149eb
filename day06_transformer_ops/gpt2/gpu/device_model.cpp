#include "day06_transformer_ops/gpt2/gpu/device_model.hpp"

#include <algorithm>

#include "day06_transformer_ops/gpt2/weights/linear.hpp"

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

bool DeviceModel::takes_one_token() const {
    const auto quads = [](const DeviceMatrix& w) {
        return choose_linear(w) == LinearPath::warp_a_row;
    };
    const auto takes = [&](const Block& b) {
        return quads(b.qkv.weight.matrix()) && quads(b.attention_output.weight.matrix()) &&
               quads(b.up.weight.matrix()) && quads(b.down.weight.matrix());
    };
    return takes_head(head_dim_) && quads(head()) &&
           std::all_of(blocks_.begin(), blocks_.end(), takes);
}

}  // namespace sixdays::gpt2
