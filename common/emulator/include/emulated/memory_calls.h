/// @file
/// Only for kernel files, and first of all: memcpy, memset and memmove of a size known only at run
/// time have no hook of their own, so they get other names, which runtime/hooks.cpp answers.
#pragma once

#include <cstddef>

extern "C" void* memcpy(void*, const void*, std::size_t) noexcept
    __asm__("sixdays_emulator_memcpy");
extern "C" void* memmove(void*, const void*, std::size_t) noexcept
    __asm__("sixdays_emulator_memmove");
extern "C" void* memset(void*, int, std::size_t) noexcept __asm__("sixdays_emulator_memset");
