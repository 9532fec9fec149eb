// Prints what this device makes of __half and __nv_bfloat16. On a GPU its output is
// small_float_h200.csv beside this file; the emulator's tests compare themselves with that.
#include "common/emulator/tests/small_float.hpp"

#include <cstdio>

int main() {
    std::fputs(sixdays::emulator::tests::small_float_table().c_str(), stdout);
}
