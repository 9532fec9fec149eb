/// @file
/// cuRAND in kernels: XORWOW and Philox, with the same numbers as CUDA's header.
#pragma once

#include "cuda_runtime.h"
#include "curand.h"

struct curandStateXORWOW {
    unsigned d, v[5];
    bool has_normal;  // the Box-Muller transform makes two at a time
    float normal;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;

struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE;
    bool has_normal;
    float normal;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace sixdays::emulator {
/// Advances v by n * 2^power steps of XORWOW.
void skip_xorwow(unsigned (&v)[5], unsigned long long n, int power);

/// Ten rounds of Philox on a counter (Salmon et al. 2011).
inline uint4 philox(uint4 c, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const auto a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
        c = make_uint4(unsigned(b >> 32) ^ c.y ^ key.x, unsigned(b),
                       unsigned(a >> 32) ^ c.w ^ key.y, unsigned(a));
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}
inline float uniform(unsigned x) {  // (0, 1]
    return static_cast<float>(x) * 0x1p-32f + 0x1p-33f;
}
inline double uniform(unsigned x, unsigned y) {
    return static_cast<double>(x ^ static_cast<unsigned long long>(y) << 21) * 0x1p-53 + 0x1p-54;
}
/// Two normally distributed numbers (Box-Muller transform).
inline float2 normals(unsigned x, unsigned y) {
    const float turn = static_cast<float>(y) * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
    const float far = sqrtf(-2.0f * logf(uniform(x)));
    return make_float2(far * sinf(turn), far * cosf(turn));
}
}  // namespace sixdays::emulator

inline void skipahead(unsigned long long n, curandStateXORWOW* state) {
    curandStateXORWOW moved = *state;  // skip_xorwow's writes are not instrumented
    sixdays::emulator::skip_xorwow(moved.v, n, 0);
    moved.d += 362437u * static_cast<unsigned>(n);
    *state = moved;
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
    curandStateXORWOW moved = *state;
    sixdays::emulator::skip_xorwow(moved.v, n, 67);
    *state = moved;
}
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStateXORWOW* state) {
    const unsigned a = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u);
    const unsigned b = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
    *state = {6615241u + b + a,
              {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a},
              false,
              0.0f};
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}
inline unsigned curand(curandStateXORWOW* state) {
    unsigned* v = state->v;
    const unsigned t = v[0] ^ v[0] >> 2;
    for (int i = 0; i < 4; ++i) v[i] = v[i + 1];
    v[4] ^= v[4] << 4 ^ t ^ t << 1;
    state->d += 362437u;
    return v[4] + state->d;
}

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    n += state->STATE;
    state->STATE = static_cast<unsigned>(n % 4);
    uint4& c = state->ctr;
    const auto low = (static_cast<unsigned long long>(c.y) << 32 | c.x) + n / 4;
    if (low < n / 4 && ++c.z == 0) ++c.w;
    c.x = static_cast<unsigned>(low);
    c.y = static_cast<unsigned>(low >> 32);
    state->output = sixdays::emulator::philox(c, state->key);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
    uint4& c = state->ctr;
    const auto high = (static_cast<unsigned long long>(c.w) << 32 | c.z) + n;
    c.z = static_cast<unsigned>(high);
    c.w = static_cast<unsigned>(high >> 32);
    state->output = sixdays::emulator::philox(c, state->key);
}
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStatePhilox4_32_10* state) {
    *state = {};
    state->key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}
inline unsigned curand(curandStatePhilox4_32_10* state) {
    const uint4 o = state->output;
    const unsigned all[] = {o.x, o.y, o.z, o.w}, now = all[state->STATE];
    if (++state->STATE == 4) {
        state->STATE = 0;
        skipahead(4, state);
    }
    return now;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
    const unsigned x = curand(state), y = curand(state), z = curand(state);
    return make_uint4(x, y, z, curand(state));
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    using sixdays::emulator::uniform;
    const uint4 x = curand4(state);
    return make_float4(uniform(x.x), uniform(x.y), uniform(x.z), uniform(x.w));
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    const float2 a = sixdays::emulator::normals(x.x, x.y), b = sixdays::emulator::normals(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}

template <class State>
float curand_uniform(State* state) {
    return sixdays::emulator::uniform(curand(state));
}
template <class State>
double curand_uniform_double(State* state) {
    const unsigned x = curand(state);
    return sixdays::emulator::uniform(x, curand(state));
}
template <class State>
float2 curand_normal2(State* state) {
    const unsigned x = curand(state);
    return sixdays::emulator::normals(x, curand(state));
}
template <class State>
float curand_normal(State* state) {
    if (state->has_normal) {
        state->has_normal = false;
        return state->normal;
    }
    const float2 two = curand_normal2(state);
    state->has_normal = true;
    state->normal = two.y;
    return two.x;
}
template <class State>
float curand_log_normal(State* state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}
