/// @file
/// The async proxy: the copy engine and wgmma access shared memory another way than threads do. They
/// may not see what a thread has written until that thread calls fence_proxy_async().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/emulator/machine/place.hpp"

namespace sixdays::emulator {

/// The copy engine writes for this copy, and what it writes needs no fence.
void writes_by_engine(const void* code);
/// Reports the current thread if it has the engine or wgmma read a thread's write in this range of
/// shared memory, and that thread has not called fence_proxy() since.
void check_seen_by_proxy(const void* shared, std::size_t bytes, const Place& place);

void forget_proxy_fences();  // a block starts
void exchange_proxy_fences(std::shared_ptr<void>& aside);

}  // namespace sixdays::emulator
