/// @file
/// cuRAND: XORWOW's skip-ahead, and the host API's generator.
#include "curand.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/emulator/libraries/device_matrix.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "curand_kernel.h"

using namespace sixdays::emulator;  // this file implements the library's API

namespace {

constexpr std::size_t kWords = 5, kBits = 32 * kWords, kSequences = 4096;
using Bits = std::array<unsigned, kWords>;
/// A step of XORWOW is linear over bits (shifts and XORs), so it is a matrix, stored column by
/// column.
using Matrix = std::array<Bits, kBits>;

Bits times(const Matrix& m, const Bits& v) {
    Bits sum{};
    for (std::size_t bit = 0; bit < kBits; ++bit) {
        if ((v[bit / 32] >> bit % 32 & 1) == 0) continue;
        for (std::size_t i = 0; i < kWords; ++i) sum[i] ^= m[bit][i];
    }
    return sum;
}

/// The matrix of 2^power steps.
const Matrix& steps(std::size_t power) {
    static std::vector<Matrix> all;
    while (all.size() <= power) {
        Matrix next;
        for (std::size_t bit = 0; bit < kBits; ++bit) {
            if (!all.empty()) {
                next[bit] = times(all.back(), all.back()[bit]);
                continue;
            }
            curandStateXORWOW state{};
            state.v[bit / 32] = 1u << bit % 32;
            curand(&state);
            next[bit] = std::to_array(state.v);
        }
        all.push_back(next);
    }
    return all[power];
}

}  // namespace

namespace sixdays::emulator {

void skip_xorwow(unsigned (&v)[kWords], unsigned long long n, int power) {
    Bits bits = std::to_array(v);
    for (auto p = static_cast<std::size_t>(power); n != 0; n >>= 1, ++p) {
        if ((n & 1) != 0) bits = times(steps(p), bits);
    }
    std::copy(bits.begin(), bits.end(), v);
}

}  // namespace sixdays::emulator

struct curandGenerator_st {
    std::vector<curandStateXORWOW> sequences;
    std::size_t next;

    void seed(unsigned long long seed) {
        sequences.resize(kSequences);
        next = 0;
        curand_init(seed, 0, 0, &sequences[0]);
        for (std::size_t i = 1; i < kSequences; ++i) {
            skipahead_sequence(1, &(sequences[i] = sequences[i - 1]));
        }
    }
};

namespace {

template <class T, class Make>
curandStatus_t generate(const char* call, const void* caller, curandGenerator_t generator, T* out,
                        std::size_t n, Make make) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    const DeviceMemoryOpen open;
    if (!may_write(call, {"array", out, sizeof(T), 1, static_cast<std::int64_t>(n), 1}, caller)) {
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = make(&generator->sequences[generator->next]);
        generator->next = (generator->next + 1) % kSequences;
    }
    return CURAND_STATUS_SUCCESS;
}

}  // namespace

#define SIXDAYS_HERE __builtin_return_address(0)

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (type != CURAND_RNG_PSEUDO_DEFAULT && type != CURAND_RNG_PSEUDO_XORWOW) {
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st;
    (*generator)->seed(0);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    delete generator;
    return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t) {
    return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed(seed);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, std::size_t n) {
    return generate(__func__, SIXDAYS_HERE, generator, out, n,
                    [](auto* state) { return curand(state); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, std::size_t n) {
    return generate(__func__, SIXDAYS_HERE, generator, out, n,
                    [](auto* state) { return curand_uniform(state); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out,
                                           std::size_t n) {
    return generate(__func__, SIXDAYS_HERE, generator, out, n,
                    [](auto* state) { return curand_uniform_double(state); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, std::size_t n,
                                    float mean, float deviation) {
    if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return generate(__func__, SIXDAYS_HERE, generator, out, n,
                    [=](auto* state) { return mean + deviation * curand_normal(state); });
}

}  // extern "C"
