#include <stdexcept>

#include "common/bench/gpu_limits.hpp"

namespace sixdays::bench {

Limits measure_gpu_limits() {
    throw std::logic_error("the emulator has no speed to measure");
}
double measure_gpu_clock() {
    throw std::logic_error("the emulator has no clock to measure");
}

}  // namespace sixdays::bench
