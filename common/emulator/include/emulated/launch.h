/// @file
/// `kernel<<<grid, block, shared, stream>>>(args...)` is translated to `configure("kernel",
/// address, call, grid, block, shared, stream)(args...)`.
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"

namespace sixdays::emulator {

/// One argument of a launch.
struct Argument {
    const void* at;
    std::size_t bytes;
};

/// One launch: its configuration, its kernel, and the bytes of its arguments.
struct Launch {
    const char* kernel;   // as written at the launch, `reduce<256>`
    const void* address;  // of the kernel, if it is known without its arguments
    dim3 grid, block;
    std::size_t shared_bytes;
    std::source_location site;  // of the launch
    const void* arguments = nullptr;
    std::size_t argument_bytes = 0;
    void (*run_thread)(const void* arguments) = nullptr;  // runs one thread
    const Argument* in_order = nullptr;                   // the individual arguments
    std::size_t count = 0;
    cudaStream_t stream = nullptr;
    bool cooperative = false;      // all blocks are in progress at once
    dim3 cluster = dim3(0, 0, 0);  // likewise the blocks of a cluster; 0: set by the kernel
};

void launch(const Launch& what);

/// NULL as a kernel argument: a null pointer for a pointer, 0 for a number.
struct Null {
    template <class T>
    constexpr operator T*() const {
        return nullptr;
    }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr operator T() const {
        return 0;
    }
};

/// The stored form of a kernel parameter: a reference is stored as its (host) address.
template <class T>
struct Passed {
    using type = T;
};
template <class T>
struct Passed<T&> {
    struct type {
        T* at;
        type(T& object) noexcept : at(&object) {}
        operator T&() const noexcept { return *at; }
    };
};

/// Runs `call` for every thread, with copies of these arguments.
template <class Call, class... Args>
void launch_with(Launch what, Call call, Args... args) {
    static_assert((std::is_trivially_copyable_v<Args> && ...),
                  "a kernel's arguments are copied as bytes, so they must be trivially copyable");
    // Passing the arguments is not an access by the kernel.
    const auto bound = [ call, args... ] __attribute__((no_sanitize("thread"))) {
        call(args...);
    };
    const Argument in_order[] = {{&args, sizeof(args)}..., {nullptr, 0}};
    what.in_order = in_order;
    what.count = sizeof...(args);
    what.arguments = &bound;
    what.argument_bytes = sizeof(bound);
    what.run_thread = [](const void* arguments) __attribute__((no_sanitize("thread"))) {
        (*static_cast<decltype(&bound)>(arguments))();
    };
    launch(what);
}

/// A configured launch, to be called with the arguments. Since the kernel's type is known, they are
/// converted to its parameter types, as in any call.
template <class Call, class... Parameters>
struct Configured {
    Launch what;
    Call call;
    void (*kernel)(Parameters...);

    void operator()(Parameters... args) const {
        launch_with<void (*)(Parameters...), typename Passed<Parameters>::type...>(what, kernel,
                                                                                   args...);
    }
    /// Some arguments are omitted: only a call by name knows their default values.
    template <class... Args>
    requires(sizeof...(Args) < sizeof...(Parameters)) void operator()(Args... args) const {
        launch_with(what, call, args...);
    }
};
/// For a template whose arguments are deduced from the call.
template <class Call>
struct ConfiguredByName {
    Launch what;
    Call call;

    template <class... Args>
    void operator()(Args... args) const {
        launch_with(what, call, args...);
    }
};

/// Accepts a kernel or a pointer to one; not callable if the name is ambiguous.
struct PointerTo {
    template <class... Parameters>
    auto operator()(void (*kernel)(Parameters...)) const noexcept {
        return kernel;
    }
};

template <class Call>
auto configure_pointer(Launch what, Call call, std::nullptr_t) {
    return ConfiguredByName<Call>{what, call};
}
template <class Call, class... Parameters>
auto configure_pointer(Launch what, Call call, void (*kernel)(Parameters...)) {
    what.address = reinterpret_cast<const void*>(kernel);
    return Configured<Call, Parameters...>{what, call, kernel};
}

template <class Pointer, class Call>
auto configure(const char* kernel, Pointer pointer, Call call, dim3 grid, dim3 block = 1,
               std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
               std::source_location site = std::source_location::current()) {
    Launch what{kernel, nullptr, grid, block, shared_bytes, site};
    what.stream = stream;
    return configure_pointer(what, call, pointer(PointerTo{}));
}

/// A kernel that can be launched by address, with pointers to its arguments.
struct KernelByAddress {
    const char* name;
    void (*launch)(const Launch& what, void** arguments);
};
/// The kernel registered at this address, or null. The translator registers the kernels of files
/// that launch by address, except templates.
const KernelByAddress* find_kernel(const void* address);
bool note_kernel(const void* address, const KernelByAddress& kernel);

template <class... Parameters, std::size_t... I>
void launch_from(Launch what, void (*kernel)(Parameters...), void** arguments,
                 std::index_sequence<I...>) {
    launch_with(what, kernel, *static_cast<std::remove_cvref_t<Parameters>*>(arguments[I])...);
}
template <class... Parameters>
bool register_kernel(const char* name, void (*kernel)(Parameters...)) {
    return note_kernel(
        reinterpret_cast<const void*>(kernel),
        {name, [](const Launch& what, void** arguments) {
             launch_from(what,
                         reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(what.address)),
                         arguments, std::index_sequence_for<Parameters...>{});
         }});
}
inline bool register_kernel(const char*, std::nullptr_t) {
    return false;  // an overloaded name
}

inline Launch described(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                        cudaStream_t stream, std::source_location site, bool cooperative) {
    Launch what{"", kernel, grid, block, shared_bytes, site};
    what.stream = stream;
    what.cooperative = cooperative;
    return what;
}
/// Returns cudaErrorInvalidDeviceFunction if the kernel is not registered.
cudaError_t launch_by_address(Launch what, void** arguments);
template <class... Parameters>
cudaError_t launch_by_address(Launch what, void (*kernel)(Parameters...), void** arguments) {
    what.address = reinterpret_cast<const void*>(kernel);
    const KernelByAddress* known = find_kernel(what.address);
    what.kernel = known != nullptr ? known->name : "a kernel";
    launch_from(what, kernel, arguments, std::index_sequence_for<Parameters...>{});
    return cudaPeekAtLastError();
}

}  // namespace sixdays::emulator

#define SIXDAYS_LAUNCH(name, cooperative)                                                    \
    inline cudaError_t name(const void* kernel, dim3 grid, dim3 block, void** arguments,     \
                            std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,     \
                            std::source_location site = std::source_location::current()) {   \
        return sixdays::emulator::launch_by_address(                                         \
            sixdays::emulator::described(kernel, grid, block, shared_bytes, stream, site,    \
                                         cooperative),                                       \
            arguments);                                                                      \
    }                                                                                        \
    template <class... Parameters>                                                           \
    cudaError_t name(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, \
                     std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,            \
                     std::source_location site = std::source_location::current()) {          \
        return sixdays::emulator::launch_by_address(                                         \
            sixdays::emulator::described(nullptr, grid, block, shared_bytes, stream, site,   \
                                         cooperative),                                       \
            kernel, arguments);                                                              \
    }
SIXDAYS_LAUNCH(cudaLaunchKernel, false)
SIXDAYS_LAUNCH(cudaLaunchCooperativeKernel, true)
#undef SIXDAYS_LAUNCH

namespace sixdays::emulator {
/// The configuration passed to cudaLaunchKernelEx, and the position of the call.
struct Configuration {
    Configuration(const cudaLaunchConfig_t* c,
                  std::source_location here = std::source_location::current())
        : launch(described(nullptr, c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream, here,
                           false)) {
        for (unsigned i = 0; i < c->numAttrs; ++i) {
            const cudaLaunchAttributeValue& value = c->attrs[i].val;
            if (c->attrs[i].id == cudaLaunchAttributeCooperative)
                launch.cooperative = value.cooperative != 0;
            if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
                launch.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        }
    }
    Launch launch;
};
}  // namespace sixdays::emulator

template <class... Parameters, class... Args>
cudaError_t cudaLaunchKernelEx(sixdays::emulator::Configuration config,
                               void (*kernel)(Parameters...), Args&&... args) {
    const auto call = [&](std::remove_cv_t<Parameters>... given) {
        void* arguments[] = {const_cast<void*>(static_cast<const void*>(&given))..., nullptr};
        return sixdays::emulator::launch_by_address(config.launch, kernel, arguments);
    };
    return call(std::forward<Args>(args)...);
}
inline cudaError_t cudaLaunchKernelExC(sixdays::emulator::Configuration config, const void* kernel,
                                       void** arguments) {
    config.launch.address = kernel;
    return sixdays::emulator::launch_by_address(config.launch, arguments);
}
template <class... Parameters>
cudaError_t cudaLaunchKernelExC(sixdays::emulator::Configuration config,
                                void (*kernel)(Parameters...), void** arguments) {
    return sixdays::emulator::launch_by_address(config.launch, kernel, arguments);
}
