// Prints this device's results for __half and __nv_bfloat16. A GPU's output is small_float_h200.csv
// in this folder, which the emulator's tests compare with.
#include "common/emulator/tests/small_float.hpp"

#include <cstdio>

int main() {
    std::fputs(sixdays::emulator::tests::small_float_table().c_str(), stdout);
}
