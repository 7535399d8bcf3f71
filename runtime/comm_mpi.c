// The MPI backend, a shared library of its own (libtspec_mpi.so): nothing here may call the rest of
// the runtime.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/comm.h"

// MPI counts are ints: longer messages go in pieces.
enum { LARGEST_MESSAGE = 1 << 30, TAG = 17 };

typedef struct mpi_comm_t {
  tspec_comm_t base;
  MPI_Comm mpi;
  bool owns_mpi; ///< MPI_Init was ours
  int64_t *board;
  size_t board_bytes;
  int *board_ranks;
} mpi_comm_t;

typedef struct mpi_group_t {
  tspec_comm_group_t base;
  MPI_Comm mpi;
  int *members;
  MPI_Request *requests;
  int nrequests; ///< room
  int *counts;   ///< of allgather, size entries
  int *offsets;
} mpi_group_t;

static mpi_comm_t *comm_of(tspec_comm_t *comm) {
  return (mpi_comm_t *)comm;
}

static mpi_group_t *group_of(tspec_comm_group_t *group) {
  return (mpi_group_t *)group;
}

static tspec_rt_status_t check(tspec_comm_t *comm, int code, const char *what) {
  if (code == MPI_SUCCESS) {
    return TSPEC_RT_OK;
  }
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  (void)MPI_Error_string(code, text, &length);
  (void)snprintf(comm->error, sizeof comm->error, "%s: %.200s", what, text);
  return TSPEC_RT_COMM;
}

static tspec_rt_status_t out_of_memory(tspec_comm_t *comm) {
  (void)snprintf(comm->error, sizeof comm->error, "out of memory");
  return TSPEC_RT_MEMORY;
}

// Nothing may be freed after the caller has ended MPI.
static void free_comm(MPI_Comm *mpi) {
  int ended = 0;
  (void)MPI_Finalized(&ended);
  if (!ended && *mpi != MPI_COMM_NULL) {
    (void)MPI_Comm_free(mpi);
  }
}

static void mpi_group_destroy(tspec_comm_group_t *base) {
  mpi_group_t *group = group_of(base);
  if (group == NULL) {
    return;
  }
  free_comm(&group->mpi);
  free(group->members);
  free((void *)group->requests);
  free(group->counts);
  free(group->offsets);
  free(group);
}

static tspec_rt_status_t mpi_group_create(tspec_comm_t *base, const int *members, int size,
                                          int index, tspec_comm_group_t **out_group) {
  *out_group = NULL;
  mpi_group_t *group = calloc(1, sizeof *group);
  if (group == NULL) {
    return out_of_memory(base);
  }
  group->mpi = MPI_COMM_NULL;
  group->nrequests = 2 * size;
  group->members = calloc((size_t)size, sizeof *group->members);
  group->requests = (MPI_Request *)calloc((size_t)group->nrequests, sizeof(MPI_Request));
  group->counts = calloc((size_t)size, sizeof *group->counts);
  group->offsets = calloc((size_t)size, sizeof *group->offsets);
  if (group->members == NULL || group->requests == NULL || group->counts == NULL ||
      group->offsets == NULL) {
    mpi_group_destroy(&group->base);
    return out_of_memory(base);
  }
  memcpy(group->members, members, (size_t)size * sizeof *members);
  group->base =
      (tspec_comm_group_t){.comm = base, .size = size, .index = index, .members = group->members};
  int color = members[0];
  for (int i = 1; i < size; ++i) {
    color = members[i] < color ? members[i] : color;
  }
  tspec_rt_status_t status =
      check(base, MPI_Comm_split(comm_of(base)->mpi, color, index, &group->mpi), "making a group");
  if (status != TSPEC_RT_OK) {
    mpi_group_destroy(&group->base);
    return status;
  }
  *out_group = &group->base;
  return TSPEC_RT_OK;
}

static int64_t pieces_of(const tspec_comm_part_t *parts, int count) {
  int64_t pieces = 0;
  for (int i = 0; i < count; ++i) {
    pieces += (parts[i].bytes + LARGEST_MESSAGE - 1) / LARGEST_MESSAGE;
  }
  return pieces;
}

// Room for requests: made at the first call of a size, so that later steps allocate nothing.
static tspec_rt_status_t reserve_requests(mpi_group_t *group, int64_t wanted) {
  if (wanted <= group->nrequests || wanted < 1) {
    return TSPEC_RT_OK;
  }
  if (wanted > INT32_MAX) {
    return out_of_memory(group->base.comm);
  }
  free((void *)group->requests);
  group->nrequests = 0;
  group->requests = (MPI_Request *)calloc((size_t)wanted, sizeof(MPI_Request));
  if (group->requests == NULL) {
    return out_of_memory(group->base.comm);
  }
  group->nrequests = (int)wanted;
  return TSPEC_RT_OK;
}

// Starts the pieces of all parts; counts requests up in *used.
static int start_parts(mpi_group_t *group, const tspec_comm_part_t *parts, int nparts, bool sending,
                       int *used) {
  for (int i = 0; i < nparts; ++i) {
    for (int64_t done = 0; done < parts[i].bytes; done += LARGEST_MESSAGE) {
      int64_t left = parts[i].bytes - done;
      int bytes = (int)(left < LARGEST_MESSAGE ? left : LARGEST_MESSAGE);
      char *memory = (char *)parts[i].memory + done;
      MPI_Request *request = &group->requests[*used];
      int code = sending
                     ? MPI_Isend(memory, bytes, MPI_BYTE, parts[i].peer, TAG, group->mpi, request)
                     : MPI_Irecv(memory, bytes, MPI_BYTE, parts[i].peer, TAG, group->mpi, request);
      if (code != MPI_SUCCESS) {
        return code;
      }
      *used += 1;
    }
  }
  return MPI_SUCCESS;
}

static tspec_rt_status_t mpi_exchange(tspec_comm_group_t *base, const tspec_comm_part_t *sends,
                                      int nsends, const tspec_comm_part_t *recvs, int nrecvs) {
  mpi_group_t *group = group_of(base);
  int64_t wanted = pieces_of(sends, nsends) + pieces_of(recvs, nrecvs);
  tspec_rt_status_t status = reserve_requests(group, wanted);
  if (status != TSPEC_RT_OK) {
    return status;
  }
  int used = 0;
  status = check(base->comm, start_parts(group, recvs, nrecvs, false, &used), "receiving");
  if (status == TSPEC_RT_OK) {
    status = check(base->comm, start_parts(group, sends, nsends, true, &used), "sending");
  }
  if (status != TSPEC_RT_OK) {
    return status;
  }
  return check(base->comm, MPI_Waitall(used, group->requests, MPI_STATUSES_IGNORE), "exchanging");
}

// Blocks too long for int counts: everyone sends to everyone, in pieces.
static tspec_rt_status_t gather_long(tspec_comm_group_t *group, const void *mine, void *all,
                                     const int64_t *bytes, const int64_t *offsets) {
  size_t room = (size_t)group->size;
  tspec_comm_part_t *parts = calloc(2 * room, sizeof *parts);
  if (parts == NULL) {
    return out_of_memory(group->comm);
  }
  int count = 0;
  for (int i = 0; i < group->size; ++i) {
    if (i != group->index) {
      parts[count] = (tspec_comm_part_t){i, (void *)(uintptr_t)mine, bytes[group->index]};
      parts[room + (size_t)count] = (tspec_comm_part_t){i, (char *)all + offsets[i], bytes[i]};
      count += 1;
    }
  }
  char *place = (char *)all + offsets[group->index];
  if (place != mine) {
    memcpy(place, mine, (size_t)bytes[group->index]);
  }
  tspec_rt_status_t status = mpi_exchange(group, parts, count, parts + room, count);
  free(parts);
  return status;
}

static tspec_rt_status_t mpi_allgather(tspec_comm_group_t *base, const void *mine, void *all,
                                       const int64_t *bytes, const int64_t *offsets) {
  mpi_group_t *group = group_of(base);
  bool even = true;
  for (int i = 0; i < base->size; ++i) {
    if (bytes[i] > INT32_MAX || offsets[i] > INT32_MAX) {
      return gather_long(base, mine, all, bytes, offsets);
    }
    even = even && bytes[i] == bytes[0] && offsets[i] == bytes[0] * i;
    group->counts[i] = (int)bytes[i];
    group->offsets[i] = (int)offsets[i];
  }
  const void *send = mine == (char *)all + offsets[base->index] ? MPI_IN_PLACE : mine;
  int code = MPI_SUCCESS;
  if (even) {
    code = MPI_Allgather(send, group->counts[0], MPI_BYTE, all, group->counts[0], MPI_BYTE,
                         group->mpi);
  } else {
    code = MPI_Allgatherv(send, group->counts[base->index], MPI_BYTE, all, group->counts,
                          group->offsets, MPI_BYTE, group->mpi);
  }
  return check(base->comm, code, "gathering");
}

static MPI_Datatype mpi_type(tspec_rt_dtype_t dtype) {
  switch (dtype) {
  case TSPEC_RT_F64:
    return MPI_DOUBLE;
  case TSPEC_RT_F32:
    return MPI_FLOAT;
  case TSPEC_RT_I64:
    return MPI_INT64_T;
  case TSPEC_RT_I32:
    return MPI_INT32_T;
  case TSPEC_RT_I16:
    return MPI_INT16_T;
  case TSPEC_RT_I8:
    return MPI_INT8_T;
  case TSPEC_RT_U8:
  case TSPEC_RT_BOOL: // 0 or 1
    return MPI_UINT8_T;
  case TSPEC_RT_BF16:
  case TSPEC_RT_F16:
  case TSPEC_RT_DTYPE_COUNT:
    break;
  }
  return MPI_DATATYPE_NULL;
}

static MPI_Op mpi_op(tspec_rt_reduce_t reduce) {
  switch (reduce) {
  case TSPEC_RT_SUM:
    return MPI_SUM;
  case TSPEC_RT_PROD:
    return MPI_PROD;
  case TSPEC_RT_MAX:
  case TSPEC_RT_ANY:
    return MPI_MAX;
  case TSPEC_RT_MIN:
  case TSPEC_RT_ALL:
    return MPI_MIN;
  case TSPEC_RT_REDUCE_COUNT:
    break;
  }
  return MPI_OP_NULL;
}

// MPI's max and min say nothing about NaN and signed zeros, and MPI has no half precision. Sums of
// narrow integers must wrap, but Open MPI's vector code saturates them (op/avx, 4.1.4).
static bool mpi_can_reduce(tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce) {
  bool adds = reduce == TSPEC_RT_SUM || reduce == TSPEC_RT_PROD;
  switch (dtype) {
  case TSPEC_RT_F64:
  case TSPEC_RT_F32:
    return adds;
  case TSPEC_RT_I64:
  case TSPEC_RT_I32:
    return true;
  case TSPEC_RT_I16:
  case TSPEC_RT_I8:
  case TSPEC_RT_U8:
  case TSPEC_RT_BOOL:
    return !adds;
  case TSPEC_RT_BF16:
  case TSPEC_RT_F16:
  case TSPEC_RT_DTYPE_COUNT:
    break;
  }
  return false;
}

static tspec_rt_status_t mpi_allreduce(tspec_comm_group_t *base, void *memory, int64_t elems,
                                       tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce) {
  mpi_group_t *group = group_of(base);
  char *place = memory;
  int bytes = 0;
  (void)MPI_Type_size(mpi_type(dtype), &bytes);
  int64_t largest = LARGEST_MESSAGE / bytes;
  for (int64_t done = 0; done < elems; done += largest) {
    int count = (int)(elems - done < largest ? elems - done : largest);
    tspec_rt_status_t status = check(base->comm,
                                     MPI_Allreduce(MPI_IN_PLACE, place + done * bytes, count,
                                                   mpi_type(dtype), mpi_op(reduce), group->mpi),
                                     "reducing");
    if (status != TSPEC_RT_OK) {
      return status;
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t mpi_broadcast(tspec_comm_group_t *base, void *memory, int64_t bytes) {
  mpi_group_t *group = group_of(base);
  for (int64_t done = 0; done < bytes; done += LARGEST_MESSAGE) {
    int count = (int)(bytes - done < LARGEST_MESSAGE ? bytes - done : LARGEST_MESSAGE);
    tspec_rt_status_t status =
        check(base->comm, MPI_Bcast((char *)memory + done, count, MPI_BYTE, 0, group->mpi),
              "broadcasting");
    if (status != TSPEC_RT_OK) {
      return status;
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t mpi_barrier(tspec_comm_t *comm) {
  return check(comm, MPI_Barrier(comm_of(comm)->mpi), "waiting for all");
}

// Shared memory of one host's ranks: the first one makes it, all map it, and the name is gone
// before anyone uses it.
static int64_t *map_board(MPI_Comm host, int leader_rank, size_t bytes) {
  int index = 0;
  (void)MPI_Comm_rank(host, &index);
  char name[64] = "";
  if (index == 0) {
    (void)snprintf(name, sizeof name, "/tspec-%ld-%d", (long)getpid(), leader_rank);
  }
  int file = -1;
  if (index == 0) {
    file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0) {
      (void)close(file);
      file = -1;
    }
  }
  (void)MPI_Bcast(name, sizeof name, MPI_CHAR, 0, host);
  if (index != 0) {
    file = shm_open(name, O_RDWR, 0600);
  }
  void *memory =
      file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int ok = memory != MAP_FAILED;
  (void)MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, host);
  if (index == 0) {
    (void)shm_unlink(name);
  }
  if (file >= 0) {
    (void)close(file);
  }
  if (!ok && memory != MAP_FAILED) {
    (void)munmap(memory, bytes);
  }
  return ok ? memory : NULL;
}

static int64_t *mpi_board_create(tspec_comm_t *base, int *out_count, const int **out_ranks) {
  mpi_comm_t *comm = comm_of(base);
  *out_count = 0;
  *out_ranks = NULL;
  if (comm->board != NULL) {
    return NULL; // one board at a time
  }
  MPI_Comm host = MPI_COMM_NULL;
  if (MPI_Comm_split_type(comm->mpi, MPI_COMM_TYPE_SHARED, base->rank, MPI_INFO_NULL, &host) !=
      MPI_SUCCESS) {
    return NULL;
  }
  int count = 0;
  (void)MPI_Comm_size(host, &count);
  comm->board_ranks = calloc((size_t)count, sizeof *comm->board_ranks);
  int have = comm->board_ranks != NULL;
  (void)MPI_Allreduce(MPI_IN_PLACE, &have, 1, MPI_INT, MPI_MIN, host);
  if (have && comm->board_ranks != NULL) {
    (void)MPI_Allgather(&base->rank, 1, MPI_INT, comm->board_ranks, 1, MPI_INT, host);
    comm->board_bytes = ((size_t)count + 1) * sizeof *comm->board;
    comm->board = map_board(host, comm->board_ranks[0], comm->board_bytes);
  }
  (void)MPI_Comm_free(&host);
  if (comm->board == NULL) {
    return NULL;
  }
  *out_count = count;
  *out_ranks = comm->board_ranks;
  return comm->board;
}

static void mpi_abort(tspec_comm_t *comm, int exit_code) {
  // mpirun ends all when one rank leaves like this. At MPI_Abort it now and then complains about a
  // file descriptor of its own on top of the line that says what is wrong.
  if (getenv("OMPI_COMM_WORLD_SIZE") != NULL) {
    _exit(exit_code);
  }
  (void)MPI_Abort(comm_of(comm)->mpi, exit_code);
  _exit(exit_code);
}

static void mpi_destroy(tspec_comm_t *base) {
  mpi_comm_t *comm = comm_of(base);
  if (comm->board != NULL) {
    (void)munmap(comm->board, comm->board_bytes);
  }
  free(comm->board_ranks);
  mpi_group_destroy(base->world);
  free_comm(&comm->mpi);
  if (comm->owns_mpi) {
    (void)MPI_Finalize();
  }
  free(comm);
}

static const tspec_comm_ops_t mpi_ops = {
    .group_create = mpi_group_create,
    .group_destroy = mpi_group_destroy,
    .exchange = mpi_exchange,
    .allgather = mpi_allgather,
    .allreduce = mpi_allreduce,
    .can_reduce = mpi_can_reduce,
    .broadcast = mpi_broadcast,
    .barrier = mpi_barrier,
    .board_create = mpi_board_create,
    .abort = mpi_abort,
    .destroy = mpi_destroy,
};

// All ranks in order, as a group of its own.
static bool make_world(mpi_comm_t *comm) {
  int *members = calloc((size_t)comm->base.nranks, sizeof *members);
  if (members == NULL) {
    return false;
  }
  for (int i = 0; i < comm->base.nranks; ++i) {
    members[i] = i;
  }
  tspec_rt_status_t status =
      mpi_group_create(&comm->base, members, comm->base.nranks, comm->base.rank, &comm->base.world);
  free(members);
  return status == TSPEC_RT_OK;
}

// Starts MPI unless it runs. With a communicator of the caller's it must run, and the communicator
// must be one that ranks can be counted in.
static bool start_mpi(mpi_comm_t *comm, const MPI_Comm *given, char *error, size_t error_bytes) {
  int running = 0;
  int ended = 0;
  int is_inter = 0;
  int provided = 0;
  (void)MPI_Initialized(&running);
  (void)MPI_Finalized(&ended);
  const char *reason = NULL;
  if (ended) {
    reason = "MPI has ended";
  } else if (given == NULL && !running) {
    // The watchdog's thread may abort while this one is inside MPI.
    comm->owns_mpi = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) == MPI_SUCCESS;
    reason = comm->owns_mpi ? NULL : "MPI_Init failed";
  } else if (given != NULL && !running) {
    reason = "MPI does not run, but a communicator was given";
  } else if (given != NULL && *given == MPI_COMM_NULL) {
    reason = "the communicator is MPI_COMM_NULL";
  } else if (given != NULL && (MPI_Comm_test_inter(*given, &is_inter) != MPI_SUCCESS || is_inter)) {
    reason = "the communicator is one between two groups";
  }
  (void)snprintf(error, error_bytes, "%s", reason != NULL ? reason : "");
  return reason == NULL;
}

__attribute__((visibility("default"))) tspec_comm_t *
tspec_comm_mpi_open(int version, const void *communicator, char *error, size_t error_bytes);

tspec_comm_t *tspec_comm_mpi_open(int version, const void *communicator, char *error,
                                  size_t error_bytes) {
  if (version != TSPEC_COMM_SHIM_VERSION) {
    (void)snprintf(error, error_bytes, "the backend has version %d, the program wants %d",
                   TSPEC_COMM_SHIM_VERSION, version);
    return NULL;
  }
  mpi_comm_t *comm = calloc(1, sizeof *comm);
  if (comm == NULL) {
    (void)snprintf(error, error_bytes, "out of memory");
    return NULL;
  }
  comm->base.ops = &mpi_ops;
  comm->mpi = MPI_COMM_NULL;
  const MPI_Comm *given = communicator;
  if (!start_mpi(comm, given, error, error_bytes)) {
    free(comm);
    return NULL;
  }
  if (MPI_Comm_dup(given != NULL ? *given : MPI_COMM_WORLD, &comm->mpi) != MPI_SUCCESS) {
    (void)snprintf(error, error_bytes, "MPI_Comm_dup failed");
    mpi_destroy(&comm->base);
    return NULL;
  }
  // Inherited by every communicator made from it.
  (void)MPI_Comm_set_errhandler(comm->mpi, MPI_ERRORS_RETURN);
  (void)MPI_Comm_rank(comm->mpi, &comm->base.rank);
  (void)MPI_Comm_size(comm->mpi, &comm->base.nranks);
  if (!make_world(comm)) {
    (void)snprintf(error, error_bytes, "%s", comm->base.error);
    mpi_destroy(&comm->base);
    return NULL;
  }
  return &comm->base;
}
