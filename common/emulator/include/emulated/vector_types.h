/// @file
/// CUDA's vector types: float4, uint3, dim3 and so on, with CUDA's alignment, which determines how
/// many bytes one load may fetch.
#pragma once

// CUDA declares these for every element type; the macro is the common pattern.
#define SIXDAYS_VECTORS(T, name, align2, align4)           \
    struct name##1 {                                       \
        T x;                                               \
    };                                                     \
    struct alignas(align2) name##2 {                       \
        T x, y;                                            \
    };                                                     \
    struct name##3 {                                       \
        T x, y, z;                                         \
    };                                                     \
    struct alignas(align4) name##4 {                       \
        T x, y, z, w;                                      \
    };                                                     \
    constexpr name##1 make_##name##1(T x) {                \
        return {x};                                        \
    }                                                      \
    constexpr name##2 make_##name##2(T x, T y) {           \
        return {x, y};                                     \
    }                                                      \
    constexpr name##3 make_##name##3(T x, T y, T z) {      \
        return {x, y, z};                                  \
    }                                                      \
    constexpr name##4 make_##name##4(T x, T y, T z, T w) { \
        return {x, y, z, w};                               \
    }

SIXDAYS_VECTORS(signed char, char, 2, 4)
SIXDAYS_VECTORS(unsigned char, uchar, 2, 4)
SIXDAYS_VECTORS(short, short, 4, 8)
SIXDAYS_VECTORS(unsigned short, ushort, 4, 8)
SIXDAYS_VECTORS(int, int, 8, 16)
SIXDAYS_VECTORS(unsigned int, uint, 8, 16)
SIXDAYS_VECTORS(long, long, 16, 16)
SIXDAYS_VECTORS(unsigned long, ulong, 16, 16)
SIXDAYS_VECTORS(long long, longlong, 16, 16)
SIXDAYS_VECTORS(unsigned long long, ulonglong, 16, 16)
SIXDAYS_VECTORS(float, float, 8, 16)
SIXDAYS_VECTORS(double, double, 16, 16)
#undef SIXDAYS_VECTORS

/// Extents of a grid or a block; omitted ones are 1.
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
