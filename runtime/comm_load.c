// Finds and loads the MPI backend: a shared library of its own, so that a program on one rank needs
// no MPI at all.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm.h"

#define SHIM_NAME "libtspec_mpi.so"

#ifndef TSPEC_RT_BUILD_DIR
#define TSPEC_RT_BUILD_DIR ""
#endif
#ifndef TSPEC_RT_INSTALL_DIR
#define TSPEC_RT_INSTALL_DIR ""
#endif

// Folder of the running executable, or "".
static void executable_folder(char *out, size_t bytes) {
  ssize_t length = readlink("/proc/self/exe", out, bytes - 1);
  out[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(out, '/');
  if (slash != NULL) {
    *slash = '\0';
  } else {
    out[0] = '\0';
  }
}

// First place where the library lies. False if there is none.
static bool find_shim(char *out, size_t bytes) {
  char self[PATH_MAX];
  executable_folder(self, sizeof self);
  const char *given = getenv("TSPEC_RT_DIR");
  const char *folders[] = {given, self, TSPEC_RT_BUILD_DIR, TSPEC_RT_INSTALL_DIR};
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i) {
    if (folders[i] == NULL || folders[i][0] == '\0') {
      continue;
    }
    int length = snprintf(out, bytes, "%s/" SHIM_NAME, folders[i]);
    if (length > 0 && (size_t)length < bytes && access(out, R_OK) == 0) {
      return true;
    }
  }
  return false;
}

tspec_rt_status_t tspec_comm_mpi_create(tspec_rt_error_t *error, tspec_comm_t **out_comm) {
  *out_comm = NULL;
  char path[PATH_MAX + sizeof SHIM_NAME + 1];
  if (!find_shim(path, sizeof path)) {
    return tspec_rt_fail(error, TSPEC_RT_COMM,
                         "cannot find '" SHIM_NAME "' next to the executable or in '%s'; set "
                         "TSPEC_RT_DIR to the folder that holds it",
                         TSPEC_RT_INSTALL_DIR[0] != '\0' ? TSPEC_RT_INSTALL_DIR
                                                         : TSPEC_RT_BUILD_DIR);
  }
  // Global: Open MPI's own plugins look for its symbols.
  // NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): whoever sets TSPEC_RT_DIR runs us
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_COMM, "cannot load '%s': %s", path, dlerror());
  }
  tspec_comm_open_fn_t open_shim = NULL;
  *(void **)&open_shim = dlsym(library, "tspec_comm_mpi_open");
  if (open_shim == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_COMM, "'%s' is not this runtime's MPI backend", path);
  }
  char reason[256] = "";
  *out_comm = open_shim(TSPEC_COMM_SHIM_VERSION, reason, sizeof reason);
  if (*out_comm == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_COMM, "cannot start MPI: %s", reason);
  }
  return TSPEC_RT_OK;
}
