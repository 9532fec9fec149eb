#!/usr/bin/env python3
"""Tests sanitizer.py and wrong_kernels.py with fake programs, so no GPU is needed.

Finally checks the committed tables against the emulator's program in the folder EMULATOR_PROGRAMS.
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("sanitizer.py")
WRONG = SCRIPT.with_name("wrong_kernels.py")
COMMITTED = SCRIPT.with_name("mistakes_h200.csv")
ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "common" / "cmake"))
import wrong  # noqa: E402

EMULATOR = """#!/bin/sh
case "$1" in
"") printf 'bounds\\nrace\\nclean\\nwaits\\nsleeps\\nfails\\nsum.right\\nsum.wrong\\n' ;;
clean|sum.right) echo 'nothing 0' ;;
race) printf 'race 124\\nthe story\\n' ;;
*) printf 'out_of_bounds 18\\nthe story\\n' ;;
esac
"""

GPU = """#!/bin/sh
case "$1" in
bounds) echo cudaErrorIllegalAddress ;;
waits) echo hangs ;;
sleeps) sleep 30 ;;
sum.wrong) echo 'wrong values' ;;
*) echo 'no error' ;;
esac
"""

NO_GPU = "#!/bin/sh\necho 'cudaMalloc: no CUDA-capable device is detected'\nexit 1\n"

# called with --tool <tool> <program>
SANITIZER = """#!/bin/sh
[ "$1" = --version ] && echo 'Version 1' && exit 0
echo '========= COMPUTE-SANITIZER'
case "$2 $4" in
'memcheck bounds')
    cat <<'END'
========= Invalid __global__ read of size 4 bytes
=========     at no_guard(const float *, int, float *)+0x80 in /a/mistakes.cu:18
=========     by thread (122,0,0) in block (1,0,0)
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: launch(float const*) in mistakes.cu:350 [0x1] in a.out
=========
========= Invalid __global__ write of size 4 bytes
=========     at no_guard(const float *, int, float *)+0x90 in /a/mistakes.cu:19
========= Program hit cudaErrorLaunchFailure (error 719) on CUDA API call to cudaFree.
END
    ;;
'racecheck race' | 'racecheck race\\, won')
    cat <<'END'
========= Error: Race reported between Read access at sweep(const float *)+0x10 in mistakes.cu:124
=========     and Write access at sweep(const float *)+0x20 in mistakes.cu:122 [64 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
END
    ;;
'synccheck waits')
    cat <<'END'
========= Barrier error detected. Divergent thread(s) in warp.
=========     at waits(float *)+0x70 in mistakes.cu:224
END
    ;;
'initcheck fails') echo '========= Error: No attachable process found. compute-sanitizer timed-out.' ;;
esac
shift 2
"$@"
echo '========= ERROR SUMMARY: 0 errors'
"""

TABLE = """\
mistake,emulator,line,alone,memcheck,racecheck,initcheck,synccheck
bounds,out_of_bounds,18,cudaErrorIllegalAddress,line 18: Invalid __global__ read of size 4 bytes,\
(cudaErrorIllegalAddress),(cudaErrorIllegalAddress),(cudaErrorIllegalAddress)
race,race,124,no error,nothing,"line 124, 122: Error: Race reported between Read access",\
nothing,nothing
clean,nothing,,no error,nothing,nothing,nothing,nothing
waits,out_of_bounds,18,hangs,(hangs),(hangs),(hangs),\
line 224: Barrier error detected. Divergent thread(s) in warp.; (hangs)
sleeps,out_of_bounds,18,hangs,(killed after 3 s),(killed after 3 s),(killed after 3 s),\
(killed after 3 s)
fails,out_of_bounds,18,no error,nothing,nothing,\
(the tool failed: Error: No attachable process found. compute-sanitizer timed-out.),nothing
sum.right,nothing,,no error,nothing,nothing,nothing,nothing
sum.wrong,out_of_bounds,18,wrong values,nothing,nothing,nothing,nothing
"""


def programs(folder, emulator, gpu, sanitizer):
    """Writes these programs, except those that are None."""
    for name, text in (("emulator_mistakes", emulator), ("emulator_mistakes_cuda", gpu), ("compute-sanitizer", sanitizer)):
        if text is not None:
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)


def said_by(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout


class Sanitizer(unittest.TestCase):
    def table(self, gpu, sanitizer="compute-sanitizer"):
        """(stdout, stderr) with these programs, except those that are None."""
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            programs(here, EMULATOR, gpu, SANITIZER)
            done = subprocess.run(
                [sys.executable, SCRIPT, folder, "mistakes", "--jobs", "8", "--timeout", "3",
                 "--sanitizer", str(here / sanitizer), "--log", str(here / "log")],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
            return done.stdout, done.stderr

    def test_each_cell_says_what_the_tool_found_or_what_the_program_met(self):
        table, sums = self.table(GPU)
        machine, rows = table.split("\n", 1)
        self.assertRegex(machine, "^# .*; Version 1$")
        self.assertEqual(rows, TABLE)
        self.assertIn("of 1 right ones 0 are accused: \n", sums)
        self.assertIn("emulator finds 6 of 7\n", sums)
        self.assertIn("without a tool 3 of 7 return an error or hang\n", sums)
        self.assertIn("memcheck finds 1 of 7\n", sums)
        self.assertIn("initcheck finds 0 of 7\n", sums)
        self.assertIn("none of the four tools finds 4: clean sleeps fails sum.wrong\n", sums)

    def test_rows_are_counted_by_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "table.csv"
            table.write_text("# a GPU\n" + TABLE + "late,race,7,no error,not run,not run,not run,not run\n")
            counts = said_by(table, "counts")
        self.assertEqual(counts, """\
kind,ran,emulator,alone,memcheck,racecheck,initcheck,synccheck,any tool,not run
out_of_bounds,5,5,3,1,0,0,1,2,0
race,1,1,0,0,1,0,0,1,1
nothing,1,0,0,0,0,0,0,0,0
(right),1,0,0,0,0,0,0,0,0
all,7,6,3,1,1,0,1,3,1
""")

    def test_a_table_is_completed_by_what_it_lacks(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            programs(here, EMULATOR, GPU, SANITIZER)
            alone = here / SCRIPT.name  # a copy outside the source tree
            alone.write_text(SCRIPT.read_text())
            lines = TABLE.replace("race,124,no error,nothing", "race,124,no error,kept").replace(
                "waits,out_of_bounds,18,hangs,(hangs)", "waits,out_of_bounds,17,hangs,of another line").replace(
                "sleeps,out_of_bounds,18,hangs,(killed after 3 s)", "sleeps,out_of_bounds,18,hangs,not run").splitlines(True)

            def completed(origin):
                (here / "before.csv").write_text(origin + "".join(lines[:-1]))  # the last is new
                return subprocess.run(
                    [sys.executable, alone, folder, "mistakes", "--timeout", "3", "--resume", here / "before.csv",
                     "--sanitizer", here / "compute-sanitizer"], text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, check=False)

            origin = said_by(folder, "mistakes", "--only", "clean", "--sanitizer", here / "compute-sanitizer").split("\n")[0] + "\n"
            self.assertEqual(completed(origin).stdout, origin + TABLE.replace("race,124,no error,nothing", "race,124,no error,kept"))
            rejected = completed("# another GPU\n")
            self.assertEqual((rejected.returncode, rejected.stdout), (1, ""))
            self.assertRegex(rejected.stderr, "before.csv comes from `# another GPU`, and this is `# .*Version 1`")

    def test_without_a_gpu_a_program_or_a_sanitizer_the_emulator_still_answers(self):
        for gpu, sanitizer, why in ((NO_GPU, "compute-sanitizer", "no CUDA-capable device"),
                                    (None, "compute-sanitizer", "was not built"),
                                    (GPU, "missing", "No such file")):
            table, sums = self.table(gpu, sanitizer)
            self.assertIn(why, sums)
            self.assertIn("race,race,124,not run,not run,not run,not run,not run\n", table)

    def test_rows_come_one_by_one_each_on_its_gpu_and_nothing_begins_too_late(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            slow = SANITIZER.replace("esac\n", "'memcheck sum.wrong') sleep 4 ;;\nesac\n")
            which = ("#!/bin/sh\necho on GPU $CUDA_VISIBLE_DEVICES\n"
                     "[ $1 != clean ] || echo no error\n")
            programs(here, EMULATOR, which, slow)

            def start(*more):
                return subprocess.Popen(
                    [sys.executable, SCRIPT, folder, "mistakes", "--gpus", "2", "--sanitizer",
                     str(here / "compute-sanitizer"), "--log", str(here / "log"), *more],
                    text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

            with start() as running:
                rows = [running.stdout.readline() for _ in range(4)]
                self.assertIsNone(running.poll(), "the first rows came when all was done")
                rows += running.stdout.readlines()
            said = {row[0]: row[3:] for row in csv.reader(rows[2:])}
            self.assertEqual(said.pop("clean"), ["no error", *["nothing"] * 4])
            self.assertRegex((here / "log").read_text(), "##### clean racecheck\n.*\non GPU 0\nno error")
            # The others fail by themselves, so all of them run on the last GPU.
            self.assertEqual({answers[0] for answers in said.values()}, {"on GPU 1"})
            with start("--within", "0") as running:
                self.assertIn("race,no answer,,not run,not run,not run,not run,not run\n",
                              running.stdout.readlines())

    def test_a_wrong_kernel_must_be_found_by_the_tool_that_it_names(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            for name, text in (("race", "#!/bin/sh\nexit 1\n"), ("skips", "#!/bin/sh\necho SKIPPED: no GPU\n"),
                               ("compute-sanitizer", SANITIZER)):
                (here / name).write_text(text)
                (here / name).chmod(0o755)
            (here / "wrong.cu").write_text("// case: race, won\n// rejected: line 3\n")

            bare = {name: value for name, value in os.environ.items() if name != "SIXDAYS_REQUIRE_GPU"}

            def status(program, tool, **more):
                return subprocess.run(
                    [sys.executable, WRONG, folder, program, "--tool", tool, "--source", str(here / "wrong.cu"),
                     "--sanitizer", str(here / "compute-sanitizer")], env={**bare, **more},
                    stdout=subprocess.DEVNULL, check=False).returncode

            self.assertEqual(status("race", "racecheck"), 0)
            self.assertEqual(status("race", "initcheck"), 1)
            self.assertEqual(status("skips", "initcheck"), 4)
            self.assertEqual(status("skips", "initcheck", SIXDAYS_REQUIRE_GPU="1"), 1)

    def test_a_case_is_named_to_catch2_as_the_emulators_tests_name_it(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            (here / "wrong.patch").write_text('case: one, "two", a\\b and E[x^2]\ncase: another\nrejected: line 3\n')
            sources = [here / "wrong.patch", *sorted(ROOT.glob("day*/**/wrong/*.patch"))]
            (here / "ask.cmake").write_text(
                f"include({ROOT}/common/cmake/wrong.cmake)\n" + "".join(
                    f'sixdays_wrong_case({source} case)\nfile(APPEND {here}/said "${{case}}\\n")\n' for source in sources))
            subprocess.run([os.environ.get("CMAKE_COMMAND", "cmake"), "-P", here / "ask.cmake"], check=True)
            said = (here / "said").read_text().splitlines()
            self.assertEqual(said[0], 'one\\, \\"two\\"\\, a\\\\b and E\\[x^2],another')
            self.assertGreater(len(said), 50)
            self.assertEqual([wrong.test_of(source) for source in sources], said)

    def test_the_committed_table_holds_what_the_emulator_says_and_the_page_its_counts(self):
        counts = said_by(COMMITTED, "counts")
        self.assertEqual((ROOT / "docs/results/mistakes_counts.csv").read_text(), counts)
        self.assertIn(counts, (ROOT / "docs/emulator.md").read_text())
        if "EMULATOR_PROGRAMS" in os.environ:
            with tempfile.TemporaryDirectory() as folder:  # where no GPU is needed
                program = pathlib.Path(os.environ["EMULATOR_PROGRAMS"]) / "emulator_mistakes"
                (pathlib.Path(folder) / program.name).symlink_to(program)
                self.assertEqual(said_by(folder, "mistakes", "--resume", COMMITTED), COMMITTED.read_text())


if __name__ == "__main__":
    unittest.main()
