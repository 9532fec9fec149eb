/// @file
/// CUDA arrays, and the texture and surface objects through which kernels access them.
#include <algorithm>
#include <map>
#include <memory>

#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/report/finding.hpp"
#include "common/emulator/report/names.hpp"
#include "emulated/textures.h"

using namespace sixdays::emulator;  // this file implements the runtime's API

namespace {

struct Object {
    cudaResourceDesc resource;
    Texture texture;
};
std::map<unsigned long long, Object> objects;

cudaError_t make(unsigned long long* object, const cudaResourceDesc* resource,
                 const cudaTextureDesc& how) {
    if (object == nullptr || resource == nullptr) return result(cudaErrorInvalidValue);
    const auto in_bytes = [](const cudaChannelFormatDesc& d) {
        return static_cast<std::size_t>(d.x + d.y + d.z + d.w) / 8;
    };
    Texture t{};
    if (resource->resType == cudaResourceTypeArray) {
        const cudaArray* array = resource->res.array.array;
        if (array == nullptr) return result(cudaErrorInvalidValue);
        t = {array->data,
             static_cast<int>(array->width),
             static_cast<int>(array->height),
             0,
             array->width * array->element,
             0,
             array->desc,
             how};
        t.depth = static_cast<int>(array->depth);
        t.slice = t.pitch * array->height;
    } else if (resource->resType == cudaResourceTypePitch2D) {
        const auto& from = resource->res.pitch2D;
        t = {static_cast<std::byte*>(from.devPtr),
             static_cast<int>(from.width),
             static_cast<int>(from.height),
             1,
             from.pitchInBytes,
             0,
             from.desc,
             how};
    } else if (resource->resType == cudaResourceTypeLinear) {
        const auto& from = resource->res.linear;
        const std::size_t width = from.sizeInBytes / in_bytes(from.desc);
        t = {static_cast<std::byte*>(from.devPtr),
             static_cast<int>(width),
             1,
             1,
             from.sizeInBytes,
             0,
             from.desc,
             how};
    } else {
        return result(cudaErrorNotSupported);
    }
    static unsigned long long last = 0;
    objects[*object = ++last] = {*resource, t};
    return cudaSuccess;
}

}  // namespace

namespace sixdays::emulator {

Texture find_texture(unsigned long long object, Site site) {
    const InRuntime guard;
    const auto found = objects.find(object);
    if (found != objects.end()) return found->second.texture;
    fail({Kind::invalid_call, cudaErrorIllegalAddress, site,
          name(*current) + ": this is not a texture or surface object, or it was destroyed."});
}

void reject_outside(Site site, int x, int y) {
    const InRuntime guard;
    fail({Kind::out_of_bounds, cudaErrorIllegalAddress, site,
          name(*current) + format(": byte %d of row %d is outside the surface.", x, y)});
}

}  // namespace sixdays::emulator

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const void*) {
    const Turn turn;
    return how == nullptr ? result(cudaErrorInvalidValue) : make(object, resource, *how);
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
    const Turn turn;
    return make(object, resource, {});
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    const Turn turn;
    return result(objects.erase(object) == 0 ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    return cudaDestroyTextureObject(object);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned) {
    const Turn turn;
    if (array == nullptr || desc == nullptr || extent.width == 0) {
        return result(cudaErrorInvalidValue);
    }
    const int bits = desc->x + desc->y + desc->z + desc->w;
    cudaArray made{*desc,
                   static_cast<std::size_t>(bits) / 8,
                   extent.width,
                   std::max<std::size_t>(extent.height, 1),
                   std::max<std::size_t>(extent.depth, 1),
                   nullptr};
    const cudaError_t error =
        cudaMalloc(&made.data, made.width * made.height * made.depth * made.element);
    if (error == cudaSuccess) *array = new cudaArray(made);
    return error;
}
cudaError_t cudaFreeArray(cudaArray_t array) {
    const Turn turn;
    if (array == nullptr) return cudaSuccess;
    const cudaError_t error = cudaFree(array->data);
    delete array;
    return error;
}

}  // extern "C"
