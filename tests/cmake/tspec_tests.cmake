# How tests are registered. Every test has a timeout (a deadlock must fail, not hang) and fails on what a sanitizer prints, since
# Criterion and lit do not notice a leak that is reported at a worker's exit.
set(TSPEC_TEST_FAILURE "LeakSanitizer|runtime error:|AddressSanitizer")
set(TSPEC_LLVM_BIN ${LLVM_TOOLS_BINARY_DIR})
find_library(TSPEC_CRITERION criterion REQUIRED)

# tspec_unit_test(NAME x SRCS a.c .. [LIBS tspec_core ..] [LABELS l ..] [DEFS D=1 ..] [TIMEOUT s])
# One Criterion executable and one ctest entry "unit_x".
function(tspec_unit_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;TIMEOUT" "SRCS;LIBS;LABELS;DEFS")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(TSPEC_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5") # sanitizers are that much slower
  endif()
  set(target unit_${ARG_NAME})
  add_executable(${target} ${ARG_SRCS})
  tspec_target(${target} NO_CONVERSION)
  target_compile_definitions(${target} PRIVATE ${ARG_DEFS}
                             TSPEC_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} ${TSPEC_CRITERION} m)
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
                       FAIL_REGULAR_EXPRESSION "${TSPEC_TEST_FAILURE}")
endfunction()

# tspec_lit_suite(DIR passes/propagate [LABELS l ..] [TIMEOUT s]): the lit files under tests/lit/DIR as one ctest entry.
function(tspec_lit_suite)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "DIR;TIMEOUT" "LABELS")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  string(REPLACE "/" "_" name lit_${ARG_DIR})
  add_test(NAME ${name} COMMAND ${TSPEC_LLVM_BIN}/lit -j2 -v ${PROJECT_BINARY_DIR}/tests/lit/${ARG_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "lit;${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} PROCESSORS 2
                       FAIL_REGULAR_EXPRESSION "${TSPEC_TEST_FAILURE}")
endfunction()

# tspec_mpi_test(NAME x NPROCS 1 2 3 4 (SRCS a.c .. [LIBS ..] | COMMAND program args ..) [LABELS l ..] [TIMEOUT s])
# A plain program under mpirun, once per number of ranks, as "mpi_x_N". Its exit code says whether it passed. SRCS: built here
# against MPI; COMMAND: an executable that is there ($<TARGET_FILE:..>). Open MPI leaks on its own, so leaks are not looked for.
function(tspec_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;TIMEOUT" "SRCS;LIBS;LABELS;NPROCS;COMMAND")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(ARG_SRCS)
    add_executable(mpi_${ARG_NAME} ${ARG_SRCS})
    tspec_target(mpi_${ARG_NAME} NO_CONVERSION)
    target_link_libraries(mpi_${ARG_NAME} PRIVATE ${ARG_LIBS} MPI::MPI_C m)
    set(ARG_COMMAND $<TARGET_FILE:mpi_${ARG_NAME}> ${ARG_COMMAND})
  endif()
  foreach(n IN LISTS ARG_NPROCS)
    add_test(NAME mpi_${ARG_NAME}_${n} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} ${ARG_COMMAND})
    set_tests_properties(
      mpi_${ARG_NAME}_${n}
      PROPERTIES LABELS "mpi;${ARG_LABELS}"
                 TIMEOUT ${ARG_TIMEOUT}
                 PROCESSORS ${n}
                 FAIL_REGULAR_EXPRESSION "${TSPEC_TEST_FAILURE}"
                 ENVIRONMENT "${TSPEC_MPI_ENVIRONMENT}")
  endforeach()
endfunction()
set(TSPEC_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 ASAN_OPTIONS=detect_leaks=0)
