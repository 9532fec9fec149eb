// The model there and back, by the loops.
#include "day06_transformer_ops/training/model/trainer_body.hpp"

namespace sixdays::day06_transformer_ops {

template class Trainer<Cpu>;

}  // namespace sixdays::day06_transformer_ops
