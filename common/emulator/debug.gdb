# For debugging a kernel on the emulator with gdb, from `cudatry --debug` or an editor.
set confirm off
set breakpoint pending off
set debuginfod enabled off
set print frame-arguments scalars
set print inferior-events off

# Let the emulator handle the timer that ends endless loops, and the faults: some open device memory
# on first use, and real bugs become findings.
handle SIGVTALRM SIGSEGV SIGBUS nostop noprint pass
set language c++

python
import os

FLOORS = ("machine", "memory", "checks", "report", "api")
OURS = tuple(f"/common/emulator/{folder}/" for folder in FLOORS + ("include", "try")) + ("/include/c++/",)

# `step` enters your own functions, not the emulator's, which run for each load and store.
for files in (*(f"*/common/emulator/{floor}/*" for floor in FLOORS), "*/common/emulator/include/*",
              "*/common/emulator/include/emulated/*", "*/include/c++/*", "*/include/c++/*/*"):
    gdb.execute("skip -gfi " + files, to_string=True)


def is_ours(frame):
    table = frame.find_sal().symtab
    return table is None or any(part in table.fullname() for part in OURS)


def own_frame():
    frame = gdb.newest_frame()
    while frame and is_ours(frame):
        frame = frame.older()
    return frame


# `bt` shows only frames of the program.
class Program:
    name, priority, enabled = "program", 100, True

    def filter(self, frames):
        return (frame for frame in frames if not is_ours(frame.inferior_frame()))


gdb.frame_filters["program"] = Program()


def to_the_launch():
    gdb.Breakpoint("sixdays_emulator_launched", internal=True, temporary=True).silent = True
    gdb.execute("continue", to_string=True)


# `next` and `step` stop in the program: when a kernel ends, after its launch.
def back_to_program():
    try:
        for _ in range(50):
            frame, own = gdb.newest_frame(), own_frame()
            if not is_ours(frame):
                return
            names = []
            while frame and frame != own:
                names.append(frame.name() or "")
                below, frame = frame, frame.older()
            if own is None or any(name.endswith("emulator::fail") for name in names):
                print("The kernel ends here.")
                to_the_launch()
            else:
                below.select()
                gdb.execute("finish", to_string=True)
    except gdb.error:  # the program has ended
        pass


# For --block and --thread: something else stopped the program first, or they were never reached.
wanted = os.environ.get("CUDATRY_WANTED")


def reached():
    return not wanted or any(b.hit_count > 0 for b in gdb.breakpoints() if b.condition)


def on_exit(event):
    if not reached():
        print(wanted + " was never reached.")


gdb.events.exited.connect(on_exit)
end

define hook-next
  python back_to_program()
end
define hookpost-next
  python back_to_program()
end
define hook-step
  python back_to_program()
end
define hookpost-step
  python back_to_program()
end

# Shows which thread has stopped.
define hook-stop
  if sixdays::emulator::current
    printf "block (%u,%u,%u), thread (%u,%u,%u)\n", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z
  end
end

# Also stop when the emulator finds a bug, at the line that contains it.
define to-program
  python
frame = own_frame()
if frame:
    frame.select()
if not reached():
    print("This happened before " + wanted + " was reached.")
  end
end
python gdb.execute("break sixdays_emulator_noted", to_string=True)
commands
  silent
  printf "The emulator found a bug in this line:\n%s\n", sixdays_emulator_finding()
  to-program
  frame
end
