/// @file
/// Must be the first header of kernel files. memcpy, memset and memmove with a size known only at
/// run time have no hooks, so this renames them to functions in memory/hooks.cpp.
#pragma once

#include <cstddef>

extern "C" void* memcpy(void*, const void*, std::size_t) noexcept
    __asm__("sixdays_emulator_memcpy");
extern "C" void* memmove(void*, const void*, std::size_t) noexcept
    __asm__("sixdays_emulator_memmove");
extern "C" void* memset(void*, int, std::size_t) noexcept __asm__("sixdays_emulator_memset");
