// Prints the results of this device's libraries for small integers. A GPU, NumPy
// (libraries_numpy.py) and the emulator print the same text, libraries.txt in this folder.
#include "common/emulator/tests/libraries.hpp"

#include <cstdio>

int main() {
    std::fputs(sixdays::emulator::tests::groups_and_units_table().c_str(), stdout);
#ifndef SIXDAYS_NO_CUBLAS
    std::fputs(sixdays::emulator::tests::cublas_table().c_str(), stdout);
#endif
}
