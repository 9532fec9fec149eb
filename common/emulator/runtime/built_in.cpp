/// @file
/// threadIdx and its kin. Kernel files see them as constants, so they are declared nowhere here.
#include "common/emulator/runtime/built_in.hpp"

uint3 threadIdx{};
uint3 blockIdx{};
dim3 blockDim;
dim3 gridDim;

namespace sixdays::emulator {

void set_thread_index(uint3 index) {
    threadIdx = index;
}
void set_block_index(uint3 index) {
    blockIdx = index;
}
void set_extents(dim3 block, dim3 grid) {
    blockDim = block;
    gridDim = grid;
}

}  // namespace sixdays::emulator
