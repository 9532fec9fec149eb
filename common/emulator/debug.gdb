# For gdb over a kernel on the emulator: `common/learn debug` reads it, and so can an editor.
set confirm off
set breakpoint pending off
set debuginfod enabled off
set print frame-arguments scalars

# `step` goes into your own functions, not into the runtime behind each load and store.
python
for files in ("*/common/emulator/runtime/*", "*/common/emulator/include/*",
              "*/common/emulator/include/emulated/*", "*/include/c++/*", "*/include/c++/*/*"):
    gdb.execute("skip -gfi " + files, to_string=True)
end

# The clock that ends endless loops; and faults: device memory opens by one where it is touched, and
# one that is a mistake becomes a finding.
handle SIGVTALRM SIGSEGV SIGBUS nostop noprint pass
set language c++

# Who is it that stopped?
define hook-stop
  if sixdays::emulator::current
    printf "block (%u,%u,%u), thread (%u,%u,%u)\n", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z
  end
end

# Where the emulator notices a mistake, it stops too, in the line that makes it.
define to-kernel
  python
frame = gdb.selected_frame()
while frame and (not frame.find_sal().symtab or "/emulator/" in frame.find_sal().symtab.fullname()):
    frame = frame.older()
if frame:
    frame.select()
  end
end
python gdb.execute("break sixdays::emulator::note", to_string=True)
commands
  silent
  echo The emulator has found a mistake in this line; `continue` prints what it is.\n
  to-kernel
  frame
end
