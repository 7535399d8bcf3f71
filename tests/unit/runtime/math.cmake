# The test of the elementary functions: gcc's objects against loops that clang makes vector code for a newer CPU. The
# functions inside those loops are hidden, so that both can be linked.
set(math_root ${PROJECT_SOURCE_DIR}/runtime/math)
set(math_loops ${CMAKE_CURRENT_SOURCE_DIR}/runtime/math_loops)
set(math_loops_object ${CMAKE_CURRENT_BINARY_DIR}/math_loops.o)
add_custom_command(
  OUTPUT ${math_loops_object}
  COMMAND ${TSPEC_CLANG} -std=gnu11 -O3 -mavx2 -mfma -ffp-contract=off -fno-math-errno -fPIC
          -DTSPEC_MATH_BITCODE -I${PROJECT_SOURCE_DIR} -c ${math_loops}.c -o ${math_loops_object}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --localize-symbol=tspec_* ${math_loops_object}
  DEPENDS ${math_loops}.c ${math_loops}.h ${math_root}/bitcode.c ${math_root}/coefficients.h
          ${math_root}/math.c ${math_root}/math.h ${math_root}/math_bits.h ${math_root}/math_f64.c
  VERBATIM)
set_source_files_properties(${math_loops_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
tspec_unit_test(NAME runtime_math SRCS runtime/math_test.c ${math_loops_object} LIBS tspec_math)
