/// @file
/// Ctrl-C, SIGTERM and SIGHUP: they end a run, and lose nothing of it.
#pragma once

namespace sixdays::day06_transformer_ops {

/// From now on a signal asks for the run's end after the step that is being made. A step may be
/// long, or never end: a second Ctrl-C gives it up, and a third one ends the program as usual. Only
/// Ctrl-C counts: a terminal that is closed may send SIGHUP twice.
void listen_to_signals();

[[nodiscard]] bool interrupted();
[[nodiscard]] bool step_is_given_up();

/// With which status to end: 0, or what a shell says of the first signal, 130 of Ctrl-C.
[[nodiscard]] int status_of_signal();

}  // namespace sixdays::day06_transformer_ops
