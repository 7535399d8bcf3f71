# cmake --install: the compiler, its libraries and headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
set(INCLUDE_DIR include/tspec)
set(LIB_DIR lib)
set(COMPILER bin/tspecc)
set(IRDL share/tspec/tspec.irdl.mlir)
list(GET LLVM_INCLUDE_DIRS 0 LLVM_INCLUDE_DIR)

install(DIRECTORY ir passes DESTINATION ${INCLUDE_DIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
        PATTERN "passes/plugin*.h" EXCLUDE)
install(FILES include/tspec/plugin.h DESTINATION ${INCLUDE_DIR}) # <tspec/plugin.h>
install(FILES frontend/ast.h frontend/ast_expr.h frontend/check.h frontend/parser.h frontend/print.h
        DESTINATION ${INCLUDE_DIR}/frontend)
install(FILES runtime/tspec_rt.h runtime/image.h runtime/dtype.h runtime/status.h runtime/status.def
        DESTINATION ${INCLUDE_DIR}/runtime)
configure_package_config_file(cmake/tspec-config.cmake.in ${PROJECT_BINARY_DIR}/tspec-config.cmake
  INSTALL_DESTINATION lib/cmake/tspec PATH_VARS INCLUDE_DIR LIB_DIR COMPILER IRDL)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tspec-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tspec-config.cmake ${PROJECT_BINARY_DIR}/tspec-config-version.cmake
        DESTINATION lib/cmake/tspec)
# The prefix is known only when installing: cmake --install --prefix may change it.
install(CODE "
  set(PROJECT_VERSION ${PROJECT_VERSION})
  set(LLVM_INCLUDE_DIR ${LLVM_INCLUDE_DIR})
  configure_file(\"${PROJECT_SOURCE_DIR}/cmake/tspec.pc.in\" \"${PROJECT_BINARY_DIR}/tspec.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/tspec.pc DESTINATION lib/pkgconfig)
