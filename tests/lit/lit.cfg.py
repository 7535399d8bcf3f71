# The lit suite: .tspec and .mlir files with RUN lines. Run by ctest ("lit_*") or by
#   /usr/lib/llvm-22/bin/lit -v BUILD/tests/lit/driver
import os

import lit.formats

config.name = "tspec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tspec", ".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tspec_build_dir, "tests", "lit")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.tspec_build_dir, "bin"), config.tspec_llvm_bin, config.environment.get("PATH", "")]
)
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=all"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Executables start ranks on few cores, maybe as root.
config.environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
config.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
config.environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"

if os.path.exists(config.tspec_mpirun):
    config.available_features.add("mpi")
if config.tspec_sanitize not in ("ON", "1", "TRUE"):
    config.available_features.add("no-sanitizer")
else:
    config.available_features.add("sanitizer")

config.substitutions.append(("%python", "python3"))
config.substitutions.append(("%examples", os.path.join(os.path.dirname(__file__), "..", "..", "examples")))
config.substitutions.append(("%tspecc_path", os.path.join(config.tspec_build_dir, "bin", "tspecc")))
config.substitutions.append(("%plugins", os.path.join(config.tspec_build_dir, "tests", "plugins")))
config.substitutions.append(("%mpirun", config.tspec_mpirun))
config.substitutions.append(("%irdl", os.path.join(config.tspec_build_dir, "share", "tspec", "tspec.irdl.mlir")))
# stock mlir-opt reading our dialect
config.substitutions.append(
    (
        "%mlir_opt",
        os.path.join(config.tspec_llvm_bin, "mlir-opt")
        + " --irdl-file="
        + os.path.join(config.tspec_build_dir, "share", "tspec", "tspec.irdl.mlir"),
    )
)
