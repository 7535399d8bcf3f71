// Files that all ranks write together, and agreement on failures.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/file.h"

tspec_rt_status_t tspec_rt_agree(tspec_comm_t *comm, tspec_rt_status_t status, int *out_rank,
                                 int *out_exit_code) {
  // Lowest failing rank in the high part, its exit code in the low one.
  int64_t first = INT64_MAX;
  if (status != TSPEC_RT_OK && status != TSPEC_RT_ELSEWHERE) {
    first = (int64_t)comm->rank << 8 | tspec_rt_status_exit_code(status);
  }
  tspec_rt_status_t reached =
      comm->ops->allreduce(comm->world, &first, 1, TSPEC_RT_I64, TSPEC_RT_MIN);
  if (reached != TSPEC_RT_OK) {
    first = (int64_t)comm->rank << 8 | tspec_rt_status_exit_code(reached);
    status = reached;
  }
  bool ok = first == INT64_MAX;
  int rank = ok ? -1 : (int)(first >> 8);
  if (out_rank != NULL) {
    *out_rank = rank;
  }
  if (out_exit_code != NULL) {
    *out_exit_code = ok ? 0 : (int)(first & 0xff);
  }
  if (ok || rank == comm->rank) {
    return ok ? TSPEC_RT_OK : status;
  }
  return TSPEC_RT_ELSEWHERE;
}

static tspec_rt_status_t create(tspec_rt_output_t *output, tspec_rt_head_t head,
                                tspec_rt_error_t *error) {
  struct stat info;
  if (stat(output->name, &info) == 0 && !S_ISREG(info.st_mode)) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "cannot write '%s': it is not an ordinary file",
                         output->name);
  }
  output->file = open(output->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  bool ok = output->file >= 0 && ftruncate(output->file, (off_t)head.file_bytes) == 0 &&
            pwrite(output->file, head.text, (size_t)head.bytes, 0) == (ssize_t)head.bytes;
  if (ok) {
    return TSPEC_RT_OK;
  }
  return tspec_rt_fail(error, TSPEC_RT_FILE, "cannot write '%s': %s", output->name,
                       strerror(errno));
}

tspec_rt_status_t tspec_rt_output_create(tspec_comm_t *comm, const char *name, tspec_rt_head_t head,
                                         tspec_rt_error_t *error, tspec_rt_output_t *out_output) {
  *out_output = (tspec_rt_output_t){.file = -1};
  tspec_rt_status_t status = TSPEC_RT_OK;
  if (strlen(name) >= sizeof out_output->name) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "the name '%.100s...' is too long", name);
  }
  (void)snprintf(out_output->name, sizeof out_output->name, "%s", name);
  int64_t mark = getpid();
  TSPEC_RT_TRY(comm->ops->broadcast(comm->world, &mark, sizeof mark));
  (void)snprintf(out_output->temporary, sizeof out_output->temporary, "%s.tmp-%lld",
                 out_output->name, (long long)mark);
  if (comm->rank == 0) {
    status = create(out_output, head, error);
  }
  status = tspec_rt_agree(comm, status, NULL, NULL);
  if (status == TSPEC_RT_OK && comm->rank != 0) {
    out_output->file = open(out_output->temporary, O_WRONLY | O_CLOEXEC);
    if (out_output->file < 0) {
      status = tspec_rt_fail(error, TSPEC_RT_FILE,
                             "cannot write '%s': %s (it must lie where every rank can reach it)",
                             name, strerror(errno));
    }
  }
  if (tspec_rt_agree(comm, status, NULL, NULL) != TSPEC_RT_OK) {
    return tspec_rt_output_finish(comm, out_output, status, error);
  }
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_output_finish(tspec_comm_t *comm, tspec_rt_output_t *output,
                                         tspec_rt_status_t status, tspec_rt_error_t *error) {
  if (output->file >= 0) {
    bool synced = fsync(output->file) == 0 || errno == EINVAL || errno == EROFS;
    if ((close(output->file) != 0 || !synced) && status == TSPEC_RT_OK) {
      status = tspec_rt_fail(error, TSPEC_RT_FILE, "cannot write '%s': %s", output->name,
                             strerror(errno));
    }
    output->file = -1;
  }
  tspec_rt_status_t all = tspec_rt_agree(comm, status, NULL, NULL);
  if (comm->rank == 0) {
    if (all != TSPEC_RT_OK) {
      (void)unlink(output->temporary);
    } else if (rename(output->temporary, output->name) != 0) {
      all = tspec_rt_fail(error, TSPEC_RT_FILE, "cannot write '%s': %s", output->name,
                          strerror(errno));
      (void)unlink(output->temporary);
    }
  }
  return tspec_rt_agree(comm, all, NULL, NULL);
}
