/// @file
/// A program that was built for a GPU, where there is none.
#pragma once

namespace sixdays::gpt2 {

/// Where no GPU answers, this program becomes the one beside it that is called like it with
/// "_emulated" behind: the same, with its kernels on the emulator. Says so on the error output.
/// Returns where a GPU answers, and in the emulated program itself.
/// @param argv  of main()
/// @throws std::runtime_error  there is no such program
void run_emulated_without_gpu(char** argv);

}  // namespace sixdays::gpt2
