# What every target of this project has in common.
set(TSPEC_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wswitch-enum -Wvla -Wno-gnu-zero-variadic-macro-arguments)

# tspec_target(NAME [NO_CONVERSION]): warnings, include root, sanitizers.
function(tspec_target name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_CONVERSION" "" "")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:${TSPEC_WARNINGS}> -ffp-contract=off
                                         -fno-math-errno)
  if(NOT ARG_NO_CONVERSION)
    target_compile_options(${name} PRIVATE -Wconversion)
  endif()
  if(TSPEC_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(TSPEC_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all
                                           -fno-omit-frame-pointer)
    target_link_options(${name} PRIVATE -fsanitize=address,undefined)
  endif()
  if(TSPEC_ARENA_STRESS)
    target_compile_definitions(${name} PRIVATE TSPEC_ARENA_STRESS)
  endif()
endfunction()
