#include "common/emulator/machine/fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "common/emulator/machine/address_space.hpp"

namespace sixdays::emulator {

#if defined(__x86_64__)

// Pushes the callee-saved registers onto the old stack, switches stacks, and pops the same
// registers from the new one. `ret` returns to where that fiber stopped.
asm(R"(
.text
.globl sixdays_emulator_switch
.type sixdays_emulator_switch, @function
sixdays_emulator_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size sixdays_emulator_switch, . - sixdays_emulator_switch
)");
extern "C" void sixdays_emulator_switch(void** save_here, void* go_there);

void switch_context(Context& from, Context& to) {
    sixdays_emulator_switch(&from.stack_pointer, to.stack_pointer);
}

void prepare_context(Context& context, std::byte* stack, void (*entry)()) {
    // The first switch pops six registers, the entry point and its return address, 0.
    void* first[8] = {};
    first[6] = reinterpret_cast<void*>(entry);
    std::byte* top = stack + kStackBytes - sizeof(first);
    std::memcpy(top, first, sizeof(first));
    context.stack_pointer = top;
}

#else  // slower: swapcontext also makes a system call to save the signal mask

void switch_context(Context& from, Context& to) {
    swapcontext(&from.machine, &to.machine);
}

void prepare_context(Context& context, std::byte* stack, void (*entry)()) {
    getcontext(&context.machine);
    context.machine.uc_stack.ss_sp = stack;
    context.machine.uc_stack.ss_size = kStackBytes;
    context.machine.uc_link = nullptr;
    makecontext(&context.machine, entry, 0);
}

#endif

namespace {

std::byte* stacks() {
    static auto* const base =
        static_cast<std::byte*>(reserve(kMaxFibers * kStackStride, "the stacks of threads"));
    return base;
}

}  // namespace

std::byte* stack_of_fiber(std::size_t index) {
    std::byte* const guard = stacks() + index * kStackStride;
    mprotect(guard, kStackGuard, PROT_NONE);
    return guard + kStackGuard;
}

std::size_t fiber_of_address(std::uintptr_t address) {
    const std::uintptr_t from_base = address - reinterpret_cast<std::uintptr_t>(stacks());
    return std::min(from_base / kStackStride, kMaxFibers);
}

}  // namespace sixdays::emulator
