/// @file
/// Whether this machine has the memory that is about to be asked for.
#pragma once

#include <cstdint>
#include <string>

namespace sixdays::gpt2 {

/// Bytes that a process may have here: the machine's, or fewer where a limit says so.
[[nodiscard]] std::int64_t memory_bytes();

/// A system grants more memory than it has, and ends the process when it is used; so it is asked
/// before.
/// @param what   of the sentence: "a model of 1000 layers"
/// @param bytes  a double, since sizes come from users: their product may be beyond 63 bits
/// @throws std::invalid_argument  more than there is
void check_memory(const std::string& what, double bytes);
/// The same of another memory. @param whose  "this GPU"
void check_memory(const std::string& what, double bytes, double there, const std::string& whose);

/// "73.5 GB", and of less "1.4 MB"
[[nodiscard]] std::string memory_text(double bytes);

}  // namespace sixdays::gpt2
