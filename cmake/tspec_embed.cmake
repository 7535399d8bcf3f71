# Files as C arrays. Included from CMakeLists.txt it defines tspec_embed; run with -P it writes one.
#
# tspec_embed(NAME <c name> FILE <input> OUTPUT <c file> TYPE <char|unsigned char>): the file's bytes as
# `const TYPE NAME[]`, a NUL behind them, and `const size_t NAME_size` (without that NUL).
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  # 16 bytes to a line
  string(REGEX REPLACE "(................................................................................)"
                       "\\1\n" bytes "${bytes}")
  file(WRITE ${OUTPUT} "#include <stddef.h>\n\nextern const ${TYPE} ${NAME}[];\n"
                       "extern const size_t ${NAME}_size;\n\nconst ${TYPE} ${NAME}[] = {\n${bytes}0};\n"
                       "const size_t ${NAME}_size = ${size};\n")
  return()
endif()

set(TSPEC_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(tspec_embed)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;FILE;OUTPUT;TYPE" "")
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${ARG_FILE} -DOUTPUT=${ARG_OUTPUT} -DNAME=${ARG_NAME}
            "-DTYPE=${ARG_TYPE}" -P ${TSPEC_EMBED_SCRIPT}
    DEPENDS ${ARG_FILE} ${TSPEC_EMBED_SCRIPT}
    VERBATIM)
endfunction()
