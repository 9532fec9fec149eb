/// @file
/// Device memory and streams for the emulator's own tests, which must not depend on common/gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace sixdays::emulator::tests {

template <class T>
class Device {
public:
    /// n unwritten elements.
    explicit Device(std::size_t n) : n_(n) {
        check(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)), "cudaMalloc");
    }
    explicit Device(const std::vector<T>& values) : Device(values.size()) {
        check(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice),
              "cudaMemcpy");
    }
    ~Device() { cudaFree(data_); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    T* data() const { return data_; }
    std::vector<T> host() const {
        std::vector<T> values(n_);
        check(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost),
              "cudaMemcpy");
        return values;
    }

private:
    static void check(cudaError_t error, const char* call) {
        if (error != cudaSuccess) {
            throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
        }
    }
    T* data_ = nullptr;
    std::size_t n_;
};

struct Stream {
    explicit Stream(unsigned flags = cudaStreamDefault) { cudaStreamCreateWithFlags(&it, flags); }
    ~Stream() { cudaStreamDestroy(it); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t it = nullptr;
};

}  // namespace sixdays::emulator::tests
