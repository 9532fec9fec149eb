/// @file
/// Falling back to the emulator in a program that was built for a GPU.
#pragma once

namespace sixdays::gpt2 {

/// If there is no usable GPU, replaces this process by the program beside it whose name has the
/// suffix "_emulated": the same program with its kernels on the emulator. Reports that on standard
/// error. Returns if there is a GPU, and in the emulated program itself.
/// @param argv  of main()
/// @throws std::runtime_error  that program does not exist
void run_emulated_without_gpu(char** argv);

}  // namespace sixdays::gpt2
