/// @file
/// CUDA arrays, the source of textures: here contiguous rows in contiguous layers. Also 3D copies.
#pragma once

#include <cstddef>

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2
};
struct cudaChannelFormatDesc {
    int x, y, z, w;  // bits of each channel
    cudaChannelFormatKind f;
};
struct cudaExtent {
    std::size_t width, height, depth;
};
struct cudaPos {
    std::size_t x, y, z;
};
struct cudaPitchedPtr {
    void* ptr;
    std::size_t pitch, xsize, ysize;
};
constexpr cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
    return {width, height, depth};
}
constexpr cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) {
    return {x, y, z};
}
constexpr cudaPitchedPtr make_cudaPitchedPtr(void* data, std::size_t pitch, std::size_t width,
                                             std::size_t height) {
    return {data, pitch, width, height};
}
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
namespace sixdays::emulator {
template <class T>
constexpr cudaChannelFormatKind kKindOf = T(0.5f) != T(0) ? cudaChannelFormatKindFloat
                                          : T(-1) < T(0)  ? cudaChannelFormatKindSigned
                                                          : cudaChannelFormatKindUnsigned;
}  // namespace sixdays::emulator
/// For a scalar or a CUDA vector type.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
    const auto desc = [](auto one) {
        const int bits = 8 * sizeof(one), channels = sizeof(T) / sizeof(one);
        return cudaChannelFormatDesc{bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                     channels > 3 ? bits : 0,
                                     sixdays::emulator::kKindOf<decltype(one)>};
    };
    if constexpr (requires(T t) { t.x; }) {
        return desc(decltype(T::x){});
    } else {
        return desc(T{});
    }
}

constexpr unsigned cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
                   cudaArrayCubemap = 4, cudaArrayTextureGather = 8;
struct cudaArray {
    cudaChannelFormatDesc desc;
    std::size_t element, width, height, depth;
    std::byte* data;
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;

extern "C" {
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
}
inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                                   std::size_t width, std::size_t height = 0, unsigned flags = 0) {
    return cudaMalloc3DArray(array, desc, {width, height, 0}, flags);
}

struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;  // width in elements if an array is involved, otherwise in bytes
    cudaMemcpyKind kind;
};

// Always inline, so that a report names the line of the call.
[[gnu::always_inline]] inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x_bytes,
                                                              std::size_t y, const void* from,
                                                              std::size_t pitch, std::size_t width,
                                                              std::size_t height,
                                                              cudaMemcpyKind kind) {
    const std::size_t row = to->width * to->element;
    return cudaMemcpy2D(to->data + y * row + x_bytes, row, from, pitch, width, height, kind);
}
[[gnu::always_inline]] inline cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x_bytes,
                                                            std::size_t y, const void* from,
                                                            std::size_t bytes,
                                                            cudaMemcpyKind kind) {
    return cudaMemcpy(to->data + y * to->width * to->element + x_bytes, from, bytes, kind);
}
[[gnu::always_inline]] inline cudaError_t cudaMemcpy2DFromArray(
    void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x_bytes, std::size_t y,
    std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    const std::size_t row = from->width * from->element;
    return cudaMemcpy2D(to, pitch, from->data + y * row + x_bytes, row, width, height, kind);
}
[[gnu::always_inline]] inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p,
                                                            cudaStream_t stream = nullptr) {
    const cudaArray* array = p->srcArray != nullptr ? p->srcArray : p->dstArray;
    const std::size_t unit = array != nullptr ? array->element : 1;
    struct Side {
        std::byte* at;
        std::size_t pitch, slice;
    };
    const auto side = [unit](const cudaArray* in, const cudaPitchedPtr& ptr, const cudaPos& pos) {
        Side s{static_cast<std::byte*>(ptr.ptr), ptr.pitch, ptr.pitch * ptr.ysize};
        if (in != nullptr) s = {in->data, in->width * unit, in->width * in->height * unit};
        s.at += pos.z * s.slice + pos.y * s.pitch + pos.x * (in != nullptr ? unit : 1);
        return s;
    };
    const Side from = side(p->srcArray, p->srcPtr, p->srcPos);
    const Side to = side(p->dstArray, p->dstPtr, p->dstPos);
    for (std::size_t z = 0; z < p->extent.depth; ++z) {
        const cudaError_t error =
            cudaMemcpy2DAsync(to.at + z * to.slice, to.pitch, from.at + z * from.slice, from.pitch,
                              p->extent.width * unit, p->extent.height, p->kind, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
[[gnu::always_inline]] inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
    const cudaError_t error = cudaMemcpy3DAsync(p);
    return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}
