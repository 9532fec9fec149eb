/// @file
/// What `kernel<<<grid, block, shared, stream>>>(args...)` becomes:
/// `configure("kernel", address, call, grid, block, shared, stream)(args...)`.
#pragma once

#include <source_location>
#include <type_traits>

#include "cuda_runtime_api.h"

namespace sixdays::emulator {

/// One argument of a launch.
struct Argument {
    const void* at;
    std::size_t bytes;
};

/// One launch: where it runs, what it runs, and the bytes of its arguments.
struct Launch {
    const char* kernel;   // as written at the launch, `reduce<256>`
    const void* address;  // of the kernel, if it can be named without its arguments
    dim3 grid, block;
    std::size_t shared_bytes;
    std::source_location site;  // of the launch
    const void* arguments = nullptr;
    std::size_t argument_bytes = 0;
    void (*run_thread)(const void* arguments) = nullptr;  // one thread
    const Argument* in_order = nullptr;                   // the arguments again, as they were given
    std::size_t count = 0;
    cudaStream_t stream = nullptr;
};

void launch(const Launch& what);

/// NULL among a kernel's arguments: a null pointer for a pointer, 0 for a number.
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

/// Runs `call` for every thread, with copies of these arguments.
template <class Call, class... Args>
void launch_with(Launch what, Call call, Args... args) {
    static_assert((std::is_trivially_copyable_v<Args> && ...),
                  "a kernel's arguments travel as bytes, so they must be trivially copyable");
    // Handing over the arguments is no access of the kernel's.
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

/// A launch that waits for its arguments. What it calls is known by its type: arguments become what
/// the kernel asks for, as in any call.
template <class Call, class... Parameters>
struct Configured {
    Launch what;
    Call call;
    void (*kernel)(Parameters...);

    void operator()(Parameters... args) const { launch_with(what, kernel, args...); }
    /// Some arguments are left to their default values, which only a call by name knows.
    template <class... Args>
    requires(sizeof...(Args) < sizeof...(Parameters)) void operator()(Args... args) const {
        launch_with(what, call, args...);
    }
};
/// A template whose arguments follow from those of the call.
template <class Call>
struct ConfiguredByName {
    Launch what;
    Call call;

    template <class... Args>
    void operator()(Args... args) const {
        launch_with(what, call, args...);
    }
};

/// Takes a kernel, or a pointer to one; not callable if the name alone does not say which it is.
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
auto configure(const char* kernel, Pointer pointer, Call call, dim3 grid, dim3 block,
               std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
               std::source_location site = std::source_location::current()) {
    Launch what{kernel, nullptr, grid, block, shared_bytes, site};
    what.stream = stream;
    return configure_pointer(what, call, pointer(PointerTo{}));
}

}  // namespace sixdays::emulator
