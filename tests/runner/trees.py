# SPDX-License-Identifier: BSD-3-Clause
"""The builds that tests run in, and how a test of each kind is run there."""
import os
import pathlib
import subprocess

from . import catalogue
from .schedule import Job

BUILD_SECONDS = 1200
OPENMPI5_SECONDS = 5400  # to build an Open MPI
FUZZ_BUILD_SECONDS = 180
MPI_LIMIT = "120"  # seconds for each MPI job, where all is slower


class Tree:
    """A build tree; suites run their tests in one each."""

    title = ""  # before the names of its own steps

    def __init__(self, repo, build):
        self.repo, self.build = repo, build
        self.programs = []

    def shell(self, *arguments, **environment):
        """A command: build_tree of tools/build.sh with these arguments."""
        script = 'REPO=$0; . "$REPO/tools/build.sh"; build_tree "$@"'
        return ["env", *(f"{name}={value}" for name, value in environment.items()),
                "bash", "-c", script, str(self.repo), *map(str, arguments)]

    def make(self, programs):
        """A command that builds test programs."""
        return ["make", "-C", str(self.build), "-k", f"-j{os.cpu_count()}", *programs]

    def prepare(self, schedule, tests):
        """Builds all that the tests need; False: nothing can be run."""
        wanted = sorted({f"tests/{test.folder}/{test.source.stem}" for test in tests
                         if test.folder in catalogue.PROGRAMS})
        if not self.configure_and_make(schedule, wanted):
            return False
        if wanted and not self.has_cmocka():
            self.programs = None
            return True
        self.programs = wanted
        # a program that cannot be built fails where it is run, too
        return not wanted or schedule.one(Job(f"{self.title}programs", self.make(wanted), BUILD_SECONDS, True))

    def configure_and_make(self, _schedule, _wanted):
        """The tree itself."""
        return True

    def has_cmocka(self):
        """Whether configure has found what test programs need."""
        status = (self.build / "config.status").read_text(encoding="utf-8", errors="replace")
        return 'S["HAVE_CMOCKA_TRUE"]=""' in status

    def environment(self):
        """What tests of this tree find in their environment."""
        return {"BUILD": str(self.build), "OPTCAST_SERVER": str(self.build / "optcast-server")}

    def command(self, test):
        """How the test is run here."""
        arguments = [os.path.expandvars(argument) for argument in test.arguments]
        if test.folder in catalogue.PROGRAMS:
            return [str(self.build / "tests" / test.folder / test.source.stem), *arguments]
        if test.folder in catalogue.FUZZERS:
            seconds = os.environ.get("FUZZ_SECONDS", str(test.seconds))
            return [str(self.repo / "tests/fuzz/run.sh"), seconds, test.name]
        if test.source.suffix == ".c":
            return [str(self.repo / "tests/mpi/run-program"), str(test.source), *arguments]
        return [str(test.source), *arguments]

    def job(self, test):
        """The test as the schedule takes it; None: it cannot be run, which is the tree's fault."""
        if test.folder in catalogue.PROGRAMS and self.programs is None:
            return None
        environment = self.environment()
        seconds = test.seconds
        if test.folder in catalogue.FUZZERS:
            environment["BUILD"] = str(self.build / "fuzz")
            seconds = int(os.environ.get("FUZZ_SECONDS", seconds)) + FUZZ_BUILD_SECONDS
        return Job(test.title, self.command(test), seconds, test.alone, test.times, environment)


class SanitizerTree(Tree):
    """AddressSanitizer and UndefinedBehaviorSanitizer."""

    title = "sanitizers/"

    def configure_and_make(self, schedule, _wanted):
        return schedule.one(Job("sanitizers/build", self.shell(
            self.build, "--enable-werror", "--enable-sanitizers"), BUILD_SECONDS, True))

    def environment(self):
        # MPI programs are not instrumented themselves: the runtime has to be there before the component
        compiler = os.environ.get("CC", "gcc").split()
        runtime = subprocess.run([*compiler, "-print-file-name=libasan.so"], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout.strip()
        return {**super().environment(),
                # libpciaccess, which this part of hwloc uses, keeps some memory, and is unloaded before anybody
                # could see whose that is
                "HWLOC_COMPONENTS": "-pci",
                "TIME_LIMIT": MPI_LIMIT,
                "TEST_MPIRUN_ARGUMENTS": f"-x LD_PRELOAD={pathlib.Path(runtime).resolve()} "
                                         "-x ASAN_OPTIONS=detect_leaks=0",
                "SERVER_ENVIRONMENT": "ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1"}


class ThreadTree(Tree):
    """ThreadSanitizer. Races in servers, which the tests do not see, are in reports."""

    title = "threads/"

    def configure_and_make(self, schedule, wanted):
        return schedule.one(Job("threads/build", self.shell(
            self.build, "--enable-werror", "--enable-sanitizers=thread",
            BUILD_TARGETS=" ".join(["optcast-server", *wanted])), BUILD_SECONDS, True))

    def job(self, test):
        job = super().job(test)
        reports = self.build / "reports" / test.title.replace("/", "-")
        reports.parent.mkdir(parents=True, exist_ok=True)
        for old in reports.parent.glob(reports.name + ".*"):
            old.unlink()
        if job:
            job.environment.update(UCX_MEM_EVENTS="no", TSAN_OPTIONS=f"log_path={reports}")
            job.command = ["bash", "-c", '"${@:2}"; status=$?; cat "$1".* 2>/dev/null && exit 1; exit $status',
                           "bash", str(reports), *job.command]
        return job


class OpenMpi5Tree(Tree):
    """Built for an Open MPI 5.0 that is built first."""

    title = "openmpi5/"

    def __init__(self, repo, work):
        super().__init__(repo, work / "tree")
        self.work = work

    def configure_and_make(self, schedule, _wanted):
        return schedule.one(Job("openmpi5/openmpi", [
            str(self.repo / "tests/openmpi5/build"), "--work", str(self.work), "--no-install"],
            OPENMPI5_SECONDS, True)) and schedule.one(Job("openmpi5/build", self.shell(
                self.build, "--enable-werror", f"--with-ompi={self.work / 'prefix'}",
                f"--with-ompi-source={self.work / 'source'}"), BUILD_SECONDS, True))

    def environment(self):
        return {**super().environment(), "PATH": f"{self.work / 'prefix/bin'}:{os.environ['PATH']}", "MPIRUN": ""}


class MpichTree(Tree):
    """The usual build, whose library for MPICH serves programs of MPICH."""

    title = "mpich/"

    def environment(self):
        return {**super().environment(), "MPI": "mpich"}
