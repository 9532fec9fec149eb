#include "day06_transformer_ops/exercises/decode_q4/decode_q4.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_decode_q4(const View<const gpt2::Q4KBlock>& in, const View<float>& out) {
    const char* const op = "decode_q4";
    require_rank(op, "in", in, 1);
    const Shape wanted = {in.extent(0), gpt2::Q4KBlock::kWeights};
    if (out.shape() != wanted) {
        reject("decode_q4: in has shape ", in.shape(), ", so out must have shape ", wanted,
               ", not ", out.shape());
    }
    require_contiguous(op, "in", in);
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) reject("decode_q4: in and out overlap");
}

}  // namespace sixdays::day06_transformer_ops
