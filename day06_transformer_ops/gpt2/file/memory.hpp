/// @file
/// Checks that this machine has enough memory before an allocation.
#pragma once

#include <cstdint>
#include <string>

namespace sixdays::gpt2 {

/// Bytes that a process may use: the machine's, or fewer if a limit is set.
[[nodiscard]] std::int64_t memory_bytes();

/// A system may grant more memory than it has and end the process on use, so it is checked
/// first.
/// @param what   for the error message: "a model of 1000 layers"
/// @param bytes  a double, since sizes come from users: their product may be beyond 63 bits
/// @throws std::invalid_argument  more than available
void check_memory(const std::string& what, double bytes);
/// The same for another memory. @param whose  "this GPU"
void check_memory(const std::string& what, double bytes, double there, const std::string& whose);

/// "73.5 GB", or "1.4 MB"
[[nodiscard]] std::string memory_text(double bytes);

}  // namespace sixdays::gpt2
