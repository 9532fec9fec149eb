// The trainer on the CPU references.
#include "day06_transformer_ops/training/model/trainer_body.hpp"

namespace sixdays::day06_transformer_ops {

template class Trainer<Cpu>;

}  // namespace sixdays::day06_transformer_ops
