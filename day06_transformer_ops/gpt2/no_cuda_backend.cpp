// Where the CUDA backend is not part of the program.
#include <stdexcept>

#include "day06_transformer_ops/gpt2/backend.hpp"

namespace sixdays::gpt2 {

std::unique_ptr<Backend> make_cuda_backend(const ModelWeights&, std::int64_t) {
    throw std::runtime_error("this program was built without the CUDA backend");
}

}  // namespace sixdays::gpt2
