// The trainer on the CUDA versions.
#include "day06_transformer_ops/training/model/trainer_body.hpp"

namespace sixdays::day06_transformer_ops {

template class Trainer<Cuda>;
template class Trainer<CudaBf16>;

}  // namespace sixdays::day06_transformer_ops
