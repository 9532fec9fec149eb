/// @file
/// Textures and surfaces: created by the host from an array or device memory, and read by kernels.
/// Every access to a texel is checked like any load or store.
#pragma once

#include "emulated/arrays.h"

typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;

enum cudaResourceType {
    cudaResourceTypeArray = 0,
    cudaResourceTypeMipmappedArray = 1,
    cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3
};
struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            std::size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            std::size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0,
    cudaAddressModeClamp = 1,
    cudaAddressModeMirror = 2,
    cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero = 0,
    cudaBoundaryModeClamp = 1,
    cudaBoundaryModeTrap = 2
};

extern "C" {
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const void* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
}

#if defined(__SANITIZE_THREAD__) || defined(SIXDAYS_EMULATOR_ROOT)
#include <cmath>
#include <cstring>

#include "emulated/language.h"

namespace sixdays::emulator {

struct Texture {
    std::byte* data;
    int width, height, depth;
    std::size_t pitch, slice;  // bytes
    cudaChannelFormatDesc desc;
    cudaTextureDesc how;
};
/// Reports an invalid object.
Texture find_texture(unsigned long long object, Site site);
[[noreturn]] void reject_outside(Site site, int x, int y);

/// Applies the address mode to texel i of n; -1: outside, where the border is 0.
__forceinline__ int texel_at(int i, int n, cudaTextureAddressMode mode, bool normalized) {
    if (i >= 0 && i < n) return i;
    if (mode == cudaAddressModeBorder) return -1;
    if (normalized && mode == cudaAddressModeWrap) return (i % n + n) % n;
    if (normalized && mode == cudaAddressModeMirror) {
        const int phase = (i % (2 * n) + 2 * n) % (2 * n);
        return phase < n ? phase : 2 * n - 1 - phase;
    }
    return i < 0 ? 0 : n - 1;
}

template <class T>
__forceinline__ T load_texel(const Texture& t, int x, int y, int z) {
    const auto mode = [&t](int dim) { return t.how.addressMode[dim]; };
    const bool normalized = t.how.normalizedCoords != 0;
    const int i = texel_at(x, t.width, mode(0), normalized);
    const int j = texel_at(y, t.height, mode(1), normalized);
    const int k = texel_at(z, t.depth, mode(2), normalized);
    if (i < 0 || j < 0 || k < 0) return T{};
    const std::byte* row =
        t.data + static_cast<std::size_t>(k) * t.slice + static_cast<std::size_t>(j) * t.pitch;
    if (t.how.readMode == cudaReadModeElementType) return reinterpret_cast<const T*>(row)[i];
    T value{};  // integers are normalized to floats in [0, 1] or [-1, 1]
    float all[4] = {};
    constexpr int kChannels = sizeof(T) / sizeof(float);
    for (int c = 0; c < kChannels; ++c) {
        const int at = kChannels * i + c;
        const bool byte = t.desc.x == 8, sign = t.desc.f == cudaChannelFormatKindSigned;
        const float one = byte && sign ? reinterpret_cast<const signed char*>(row)[at] / 127.0f
                          : byte       ? reinterpret_cast<const unsigned char*>(row)[at] / 255.0f
                          : sign       ? reinterpret_cast<const short*>(row)[at] / 32767.0f
                                 : reinterpret_cast<const unsigned short*>(row)[at] / 65535.0f;
        all[c] = one < -1.0f ? -1.0f : one;
    }
    __builtin_memcpy(&value, all, sizeof(T));
    return value;
}

/// Interpolates along the first `dims` dimensions, with weights rounded to 1/256 as in hardware.
template <class T, int dims>
__forceinline__ T sample(const Texture& t, float x, float y, float z) {
    float at[3] = {x, y, z};
    const int extents[3] = {t.width, t.height, t.depth};
    int first[3];
    float weight[3] = {};
    const bool linear = t.how.filterMode == cudaFilterModeLinear;
    for (int d = 0; d < 3; ++d) {
        if (d < dims && t.how.normalizedCoords != 0) at[d] *= static_cast<float>(extents[d]);
        if (d < dims && linear) at[d] -= 0.5f;
        first[d] = static_cast<int>(floorf(at[d]));
        const float rest = at[d] - static_cast<float>(first[d]);
        if (d < dims && linear) weight[d] = rintf(rest * 256.0f) / 256.0f;
    }
    if (!linear) return load_texel<T>(t, first[0], first[1], first[2]);
    constexpr int kChannels = sizeof(T) / sizeof(float);
    float sum[kChannels] = {};
    for (int corner = 0; corner < 1 << dims; ++corner) {
        float corner_weight = 1.0f;
        int index[3] = {first[0], first[1], first[2]};
        for (int d = 0; d < dims; ++d) {
            const int far = corner >> d & 1;
            corner_weight *= far != 0 ? weight[d] : 1.0f - weight[d];
            index[d] += far;
        }
        if (corner_weight == 0.0f) continue;
        const T one = load_texel<T>(t, index[0], index[1], index[2]);
        float channels[kChannels];
        __builtin_memcpy(channels, &one, sizeof(T));
        for (int c = 0; c < kChannels; ++c) sum[c] += corner_weight * channels[c];
    }
    T value;
    __builtin_memcpy(&value, sum, sizeof(T));
    return value;
}

}  // namespace sixdays::emulator

template <class T>
T tex1Dfetch(cudaTextureObject_t object, int i,
             sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return sixdays::emulator::load_texel<T>(sixdays::emulator::find_texture(object, site), i, 0, 0);
}
template <class T>
T tex1D(cudaTextureObject_t object, float x,
        sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    using namespace sixdays::emulator;
    return sample<T, 1>(find_texture(object, site), x, 0, 0);
}
template <class T>
T tex2D(cudaTextureObject_t object, float x, float y,
        sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    using namespace sixdays::emulator;
    return sample<T, 2>(find_texture(object, site), x, y, 0);
}
template <class T>
T tex3D(cudaTextureObject_t object, float x, float y, float z,
        sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    using namespace sixdays::emulator;
    return sample<T, 3>(find_texture(object, site), x, y, z);
}
template <class T>
T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer,
               sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    using namespace sixdays::emulator;
    return sample<T, 2>(find_texture(object, site), x, y, static_cast<float>(layer));
}
/// The direction's largest component selects the face; the other two are coordinates on it.
template <class T>
T texCubemap(cudaTextureObject_t object, float x, float y, float z,
             sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    float m, s, t;
    int face;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
    }
    return tex2DLayered<T>(object, (s / m + 1) / 2, (t / m + 1) / 2, face, site);
}

namespace sixdays::emulator {
/// The element at byte x of a row; null if the access is to be ignored.
template <class T>
__forceinline__ T* surface_element(cudaSurfaceObject_t object, int x, int y,
                                   cudaSurfaceBoundaryMode mode, Site site) {
    const Texture t = find_texture(object, site);
    const int last = static_cast<int>(t.pitch) - static_cast<int>(sizeof(T));
    if (x < 0 || x > last || y < 0 || y >= t.height) {
        if (mode == cudaBoundaryModeTrap) reject_outside(site, x, y);
        if (mode == cudaBoundaryModeZero) return nullptr;
        x = x < 0 ? 0 : x > last ? last : x;
        y = y < 0 ? 0 : y >= t.height ? t.height - 1 : y;
    }
    return reinterpret_cast<T*>(t.data + static_cast<std::size_t>(y) * t.pitch + x);
}
}  // namespace sixdays::emulator

template <class T>
void surf2Dwrite(T value, cudaSurfaceObject_t object, int x, int y,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                 sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    if (T* to = sixdays::emulator::surface_element<T>(object, x, y, mode, site)) *to = value;
}
template <class T>
T surf2Dread(cudaSurfaceObject_t object, int x, int y,
             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
             sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    const T* from = sixdays::emulator::surface_element<T>(object, x, y, mode, site);
    return from != nullptr ? *from : T{};
}
template <class T>
void surf2Dread(T* value, cudaSurfaceObject_t object, int x, int y,
                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    *value = surf2Dread<T>(object, x, y, mode, site);
}
#endif
