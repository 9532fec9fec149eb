# For gdb over a kernel on the emulator: `cudatry --debug` reads it, and so can an editor.
set confirm off
set breakpoint pending off
set debuginfod enabled off
set print frame-arguments scalars
set print inferior-events off

# The clock that ends endless loops; and faults: device memory opens by one where it is touched, and
# one that is a mistake becomes a finding.
handle SIGVTALRM SIGSEGV SIGBUS nostop noprint pass
set language c++

python
import os

OURS = ("/common/emulator/runtime/", "/common/emulator/include/", "/common/emulator/try/", "/include/c++/")

# `step` goes into your own functions, not into the runtime behind each load and store.
for files in ("*/common/emulator/runtime/*", "*/common/emulator/include/*",
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


# `bt` shows the program's calls alone.
class Program:
    name, priority, enabled = "program", 100, True

    def filter(self, frames):
        return (frame for frame in frames if not is_ours(frame.inferior_frame()))


gdb.frame_filters["program"] = Program()


def to_the_launch():
    gdb.Breakpoint("sixdays_emulator_launched", internal=True, temporary=True).silent = True
    gdb.execute("continue", to_string=True)


# `next` and `step` end in the program: when a kernel has ended, behind its launch.
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


# --block and --thread, and somebody else came first, or nobody at all.
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

# Who is it that stopped?
define hook-stop
  if sixdays::emulator::current
    printf "block (%u,%u,%u), thread (%u,%u,%u)\n", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z
  end
end

# Where the emulator notices a mistake, it stops too, in the line that makes it.
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
