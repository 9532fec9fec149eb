/// @file
/// Storage of threadIdx and the like. No header declares it: kernel files see constants.
#include "common/emulator/machine/built_in.hpp"

uint3 threadIdx{};
uint3 blockIdx{};
uint3 blockDim{};
uint3 gridDim{};

namespace sixdays::emulator {

void set_thread_index(uint3 index) {
    threadIdx = index;
}
void set_block(uint3 index, dim3 extents, dim3 grid) {
    blockIdx = index;
    blockDim = extents;
    gridDim = grid;
}

}  // namespace sixdays::emulator
