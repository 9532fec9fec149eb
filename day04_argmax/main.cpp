#include "day04_argmax/argmax.hpp"
int main() {
    return 0;
}
