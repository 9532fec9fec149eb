/// @file
/// Asynchronous copies, as the rest of the runtime sees them.
#pragma once

namespace sixdays::emulator {

/// A block starts: whatever was under way is not any more.
void forget_copies(unsigned threads);

}  // namespace sixdays::emulator
