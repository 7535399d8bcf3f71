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

// The library in a folder, or NULL if it is not there. `*out_broken` says that it is but cannot be
// loaded. Global: Open MPI's own plugins look for its symbols.
static void *load_from(const char *folder, char *path, size_t bytes, bool *out_broken) {
  if (folder == NULL || folder[0] == '\0') {
    return NULL;
  }
  int length = snprintf(path, bytes, "%s/" SHIM_NAME, folder);
  if (length <= 0 || (size_t)length >= bytes || access(path, R_OK) != 0) {
    return NULL;
  }
  // NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): whoever sets TSPEC_RT_DIR runs us
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  *out_broken = library == NULL;
  return library;
}

// $TSPEC_RT_DIR, next to the executable, where the executable was linked to look, the build.
static void *load_shim(char *path, size_t bytes, bool *out_broken) {
  char self[PATH_MAX];
  executable_folder(self, sizeof self);
  const char *folders[] = {getenv("TSPEC_RT_DIR"), self, NULL, TSPEC_RT_BUILD_DIR,
                           TSPEC_RT_INSTALL_DIR};
  void *library = NULL;
  *out_broken = false;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0] && library == NULL; ++i) {
    if (*out_broken) {
      return NULL;
    }
    library = i == 2 ? dlopen(SHIM_NAME, RTLD_NOW | RTLD_GLOBAL)
                     : load_from(folders[i], path, bytes, out_broken);
  }
  return library;
}

tspec_rt_status_t tspec_comm_mpi_create(const void *communicator, tspec_rt_error_t *error,
                                        tspec_comm_t **out_comm) {
  *out_comm = NULL;
  char path[PATH_MAX + sizeof SHIM_NAME + 1];
  bool broken = false;
  void *library = load_shim(path, sizeof path, &broken);
  if (library == NULL && !broken) {
    return tspec_rt_fail(error, TSPEC_RT_COMM,
                         "cannot find '" SHIM_NAME "' next to the executable or in '%s'; set "
                         "TSPEC_RT_DIR to the folder that holds it",
                         TSPEC_RT_INSTALL_DIR[0] != '\0' ? TSPEC_RT_INSTALL_DIR
                                                         : TSPEC_RT_BUILD_DIR);
  }
  if (library == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_COMM, "cannot load '%s': %s", path, dlerror());
  }
  tspec_comm_open_fn_t open_shim = NULL;
  *(void **)&open_shim = dlsym(library, "tspec_comm_mpi_open");
  if (open_shim == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_COMM, "'%s' is not this runtime's MPI backend", path);
  }
  char reason[256] = "";
  *out_comm = open_shim(TSPEC_COMM_SHIM_VERSION, communicator, reason, sizeof reason);
  if (*out_comm == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_COMM, "cannot start MPI: %s", reason);
  }
  return TSPEC_RT_OK;
}
