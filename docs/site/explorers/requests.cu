#include "docs/site/explorers/requests.hpp"

namespace sixdays::explorers {
namespace {

template <class T>
__global__ void load_kernel(const T* data, int stride, T* out) {
    const int lane = static_cast<int>(threadIdx.x);
    out[lane] = data[lane * stride];
}

template <class T>
void load_as(const char* data, int stride, char* out) {
    load_kernel<T><<<1, 32>>>(reinterpret_cast<const T*>(data), stride, reinterpret_cast<T*>(out));
}

// Rows of shared memory, in vectors or words, as in steps 3 to 6 of Day 03's transpose.
template <class T>
__global__ void store_kernel(Tile tile, bool column, int number) {
    extern __shared__ uint4 memory[];
    const int lane = static_cast<int>(threadIdx.x);
    const int words = static_cast<int>(sizeof(T) / 4);
    const int rows = words == 1 ? 32 : 64, places = tile.width / words;
    const int pitch = (tile.width + tile.pad) / words;
    const int r = column ? lane * words % rows : (number * places + lane) / places;
    const int c = column ? number + lane * words / rows : lane % places;
    const int place = tile.swizzle ? c ^ (r / words % places) : c;
    reinterpret_cast<T*>(memory)[r * pitch + place] = T();
}

__device__ bool better(int x, int at, int y, int at_y) {
    return x > y || (x == y && at < at_y);
}

// As steps 2 and 4 of Day 04's argmax.
__global__ void join_kernel(const int* numbers, bool sum, bool butterfly, int* held) {
    __shared__ int value[8], place[8];
    const int t = static_cast<int>(threadIdx.x);
    int x = numbers[t], at = t, round = 0;
    held[t] = value[t] = x, held[32 + t] = place[t] = at;
    __syncthreads();
    for (int far = 4; far > 0; far /= 2) {
        ++round;
        int y = 0, at_y = 0;
        if (butterfly) {
            y = __shfl_xor_sync(0xffu, x, far), at_y = __shfl_xor_sync(0xffu, at, far);
        } else if (t < far) {
            y = value[t + far], at_y = place[t + far];
        }
        if (butterfly || t < far) {
            if (sum) {
                x += y, at = 0;
            } else if (better(y, at_y, x, at)) {
                x = y, at = at_y;
            }
            value[t] = x, place[t] = at;
        }
        __syncthreads();
        held[8 * round + t] = x, held[32 + 8 * round + t] = at;
    }
}

}  // namespace

void join_eight(const int* numbers, bool sum, bool butterfly, int* held) {
    join_kernel<<<1, 8>>>(numbers, sum, butterfly, held);
}

void load(const char* data, int stride, int bytes, int first, bool wide, char* out) {
    const char* begin = data + first * bytes;
    if (wide || bytes == 16) {
        load_as<uint4>(begin, stride, out);
    } else if (bytes == 8) {
        load_as<double>(begin, stride, out);
    } else if (bytes == 4) {
        load_as<float>(begin, stride, out);
    } else if (bytes == 2) {
        load_as<unsigned short>(begin, stride, out);
    } else {
        load_as<unsigned char>(begin, stride, out);
    }
}

void store(const Tile& tile, bool column, int number) {
    const unsigned rows = tile.unit == 1 ? 32 : 64;
    const unsigned bytes = 4 * rows * static_cast<unsigned>(tile.width + tile.pad);
    if (tile.unit == 1) {
        store_kernel<float><<<1, 32, bytes>>>(tile, column, number);
    } else {
        store_kernel<uint4><<<1, 32, bytes>>>(tile, column, number);
    }
}

}  // namespace sixdays::explorers
