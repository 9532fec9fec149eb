#include "day06_transformer_ops/llama/device_model.hpp"

#include <algorithm>
#include <cstring>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/weights/phase_shared.hpp"

namespace sixdays::llama {
namespace {

bool same_type(const std::vector<Weight>& matrices) {
    return std::all_of(matrices.begin(), matrices.end(),
                       [&](const Weight& w) { return w.type == matrices[0].type; });
}

// The biases of layers that have none are zeros.
DeviceModel::Linear side_by_side(const std::vector<const LinearWeights*>& layers) {
    std::vector<Weight> matrices;
    for (const LinearWeights* linear : layers) matrices.push_back(linear->weight);
    std::vector<std::byte> room;
    const Weight all = joined(matrices, false, room);
    Tensor<float> bias({all.shape[0]});
    std::int64_t at = 0;
    for (const LinearWeights* linear : layers) {
        for (std::int64_t i = 0; i < linear->bias.size(); ++i) bias(at + i) = linear->bias(i);
        at += linear->weight.shape[0];
    }
    return {all, bias};
}

std::vector<DeviceModel::Linear> queries_keys_values(const BlockWeights& b) {
    std::vector<DeviceModel::Linear> made;
    std::vector<const LinearWeights*> part;  // of one type
    for (const LinearWeights* linear : {&b.q, &b.k, &b.v}) {
        if (!part.empty() && part[0]->weight.type != linear->weight.type) {
            made.push_back(side_by_side(part));
            part.clear();
        }
        part.push_back(linear);
    }
    made.push_back(side_by_side(part));
    return made;
}

std::vector<gpt2::DeviceWeight> gate_and_up(const BlockWeights& b) {
    const std::vector<Weight> matrices = {b.gate.weight, b.up.weight};
    std::vector<gpt2::DeviceWeight> made;
    if (same_type(matrices)) {
        std::vector<std::byte> room;
        made.emplace_back(joined(matrices, true, room));
    } else {
        for (const Weight& matrix : matrices) made.emplace_back(matrix);
    }
    return made;
}

}  // namespace

Weight joined(const std::vector<Weight>& matrices, bool in_turn, std::vector<std::byte>& room) {
    if (matrices.empty()) reject("joined: no matrix");
    const Weight& first = matrices[0];
    std::int64_t N = 0;
    for (const Weight& w : matrices) {
        if (w.type != first.type || w.shape.rank != 2 || w.shape[1] != first.shape[1] ||
            (in_turn && w.shape[0] != first.shape[0])) {
            reject("joined: a matrix of shape ", w.shape, " in ", gpt2::storage_of(w.type).name,
                   " does not fit one of shape ", first.shape, " in ",
                   gpt2::storage_of(first.type).name);
        }
        N += w.shape[0];
    }
    const auto row = static_cast<std::size_t>(gpt2::bytes_of(first.type, {first.shape[1]}));
    room.resize(static_cast<std::size_t>(N) * row);
    std::size_t at = 0;  // row of the result where this matrix begins
    for (const Weight& w : matrices) {
        const auto rows = static_cast<std::size_t>(w.shape[0]);
        const std::size_t step = in_turn ? matrices.size() : 1;
        for (std::size_t i = 0; i < rows; ++i) {
            std::memcpy(room.data() + (at + i * step) * row, w.data + i * row, row);
        }
        at += in_turn ? 1 : rows;
    }
    return {first.type, room.data(), {N, first.shape[1]}};
}

DeviceModel::Linear::Linear(const Weight& matrix, const Tensor<float>& bias_)
    : weight(matrix), bias(bias_.size() > 0 ? bias_ : Tensor<float>({matrix.shape[0]})) {}

DeviceModel::Block::Block(const BlockWeights& host)
    : attention_norm(host.attention_norm),
      mlp_norm(host.mlp_norm),
      q_norm(host.q_norm),
      k_norm(host.k_norm),
      qkv(queries_keys_values(host)),
      attention_output(host.attention_output.weight, host.attention_output.bias),
      gate_up(gate_and_up(host)),
      down(host.down.weight, host.down.bias) {}

DeviceModel::DeviceModel(const ModelWeights& host)
    : head_dim_(host.config.head_dim), tokens_(host.token_embedding), final_norm_(host.final_norm) {
    if (host.head.data != host.token_embedding.data) own_head_.emplace(host.head);
    for (const BlockWeights& block : host.blocks) blocks_.emplace_back(block);
}

bool DeviceModel::takes_one_token() const {
    // Slices of these phases have up to 1,024 columns, whatever the type.
    const auto phase_takes = [](const gpt2::DeviceMatrix& w, int rows_kept) {
        return gpt2::phase_takes(w, rows_kept) && gpt2::phase_fits(w.K, rows_kept, gpt2::kRunSlice);
    };
    const auto takes = [&](const Block& b) {
        return std::all_of(b.qkv.begin(), b.qkv.end(),
                           [&](const Linear& part) {
                               return phase_takes(part.weight.matrix(), kRmsNormKeeps);
                           }) &&
               phase_takes(b.attention_output.weight.matrix(), 0) && b.gate_up.size() == 1 &&
               phase_takes(b.gate_up[0].matrix(), kRmsNormKeeps) &&
               phase_takes(b.down.weight.matrix(), 0);
    };
    return gpt2::takes_head(head_dim_) && phase_takes(head(), kRmsNormKeeps) &&
           std::all_of(blocks_.begin(), blocks_.end(), takes);
}

}  // namespace sixdays::llama
