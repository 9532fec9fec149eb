/// @file
/// Ctrl-C, SIGTERM and SIGHUP end a run without losing its progress.
#pragma once

namespace sixdays::day06_transformer_ops {

/// From now on a signal ends the run after the current step. A step may be long, or never end: a
/// second Ctrl-C abandons it, and a third one ends the program as usual. Only Ctrl-C is counted: a
/// terminal that is closed may send SIGHUP twice.
void listen_to_signals();

/// Has a signal arrived?
[[nodiscard]] bool interrupted();
/// Has a second Ctrl-C abandoned the step?
[[nodiscard]] bool step_is_given_up();

/// The exit status: 0, or the shell's status for the first signal, which is 130 for Ctrl-C.
[[nodiscard]] int status_of_signal();

}  // namespace sixdays::day06_transformer_ops
