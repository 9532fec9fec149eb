/// @file
/// What `kernel<<<grid, block, shared, stream>>>(args...)` becomes:
/// `configure("kernel", address, call, grid, block, shared, stream)(args...)`.
#pragma once

#include <tuple>
#include <type_traits>

#include "cuda_runtime_api.h"

namespace sixdays::emulator {

/// One launch: where it runs, what it runs, and the bytes of its arguments.
struct Launch {
    const char* kernel;   // as written at the launch, `reduce<256>`
    const void* address;  // of the kernel, if it can be named without its arguments
    dim3 grid, block;
    std::size_t shared_bytes;
    const void* arguments = nullptr;
    std::size_t argument_bytes = 0;
    void (*run_thread)(const void* arguments) = nullptr;  // one thread
};

void launch(const Launch& what);

/// Names a kernel's address; not callable if the name alone does not say which function it is.
struct AddressOf {
    template <class... Args>
    const void* operator()(void (*kernel)(Args...)) const noexcept {
        return reinterpret_cast<const void*>(kernel);
    }
};

/// A launch that waits for its arguments.
template <class Call>
struct Configured {
    Launch what;
    Call call;

    template <class... Args>
    void operator()(Args... args) {
        static_assert((std::is_trivially_copyable_v<Args> && ...),
                      "a kernel's arguments travel as bytes, so they must be trivially copyable");
        struct Bound {
            Call call;
            std::tuple<Args...> args;
        };
        const Bound bound{call, std::tuple<Args...>(args...)};
        what.arguments = &bound;
        what.argument_bytes = sizeof(bound);
        what.run_thread = [](const void* arguments) {
            const Bound& b = *static_cast<const Bound*>(arguments);
            std::apply(b.call, b.args);
        };
        launch(what);
    }
};

template <class Address, class Call>
Configured<Call> configure(const char* kernel, Address address, Call call, dim3 grid, dim3 block,
                           std::size_t shared_bytes = 0, cudaStream_t = nullptr) {
    return {Launch{kernel, address(AddressOf{}), grid, block, shared_bytes}, call};
}

}  // namespace sixdays::emulator
