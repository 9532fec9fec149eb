// Prints what this device's libraries make of small whole numbers. On a GPU, in NumPy
// (libraries_numpy.py) and on the emulator the text is the same: libraries.txt beside this file.
#include "common/emulator/tests/libraries.hpp"

#include <cstdio>

int main() {
    std::fputs(sixdays::emulator::tests::groups_and_units_table().c_str(), stdout);
#ifndef SIXDAYS_NO_CUBLAS
    std::fputs(sixdays::emulator::tests::cublas_table().c_str(), stdout);
#endif
}
