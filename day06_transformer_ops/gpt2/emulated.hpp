/// @file
/// Falling back to the emulator in a program that was built for a GPU.
#pragma once

namespace sixdays::gpt2 {

/// Without a usable GPU, replaces this process by the program next to it whose name has the
/// suffix "_emulated": the same program with its kernels on the emulator. Reports that on standard
/// error. Returns if a GPU is usable, and in the emulated program itself.
/// @param argv  of main()
/// @throws std::runtime_error  that program does not exist
void run_emulated_without_gpu(char** argv);

}  // namespace sixdays::gpt2
