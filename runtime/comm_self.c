// Communication of one rank with itself.
#include <stdlib.h>
#include <string.h>

#include "runtime/comm.h"

static tspec_rt_status_t self_group_create(tspec_comm_t *comm, const int *members, int size,
                                           int index, tspec_comm_group_t **out_group) {
  static const int zero = 0;
  (void)members;
  (void)size;
  (void)index;
  tspec_comm_group_t *group = calloc(1, sizeof *group);
  *out_group = group;
  if (group == NULL) {
    return TSPEC_RT_MEMORY;
  }
  *group = (tspec_comm_group_t){.comm = comm, .size = 1, .index = 0, .members = &zero};
  return TSPEC_RT_OK;
}

static void self_group_destroy(tspec_comm_group_t *group) {
  free(group);
}

static tspec_rt_status_t self_exchange(tspec_comm_group_t *group, const tspec_comm_part_t *sends,
                                       int nsends, const tspec_comm_part_t *recvs, int nrecvs) {
  (void)group;
  (void)sends;
  (void)nsends;
  (void)recvs;
  (void)nrecvs;
  return TSPEC_RT_OK; // there is no other member
}

static tspec_rt_status_t self_allgather(tspec_comm_group_t *group, const void *mine, void *all,
                                        const int64_t *bytes, const int64_t *offsets) {
  (void)group;
  char *place = (char *)all + offsets[0];
  if (place != mine) {
    memcpy(place, mine, (size_t)bytes[0]);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t self_allreduce(tspec_comm_group_t *group, void *memory, int64_t elems,
                                        tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce) {
  (void)group;
  (void)memory;
  (void)elems;
  (void)dtype;
  (void)reduce;
  return TSPEC_RT_OK;
}

static bool self_can_reduce(tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce) {
  (void)dtype;
  (void)reduce;
  return true;
}

static tspec_rt_status_t self_broadcast(tspec_comm_group_t *group, void *memory, int64_t bytes) {
  (void)group;
  (void)memory;
  (void)bytes;
  return TSPEC_RT_OK;
}

static tspec_rt_status_t self_barrier(tspec_comm_t *comm) {
  (void)comm;
  return TSPEC_RT_OK;
}

static int64_t *self_board_create(tspec_comm_t *comm, int *out_count, const int **out_ranks) {
  (void)comm;
  *out_count = 0;
  *out_ranks = NULL;
  return NULL;
}

static void self_abort(tspec_comm_t *comm, int exit_code) {
  (void)comm;
  _Exit(exit_code);
}

static void self_destroy(tspec_comm_t *comm) {
  free(comm->world);
  free(comm);
}

tspec_comm_t *tspec_comm_self_create(void) {
  static const tspec_comm_ops_t ops = {
      .group_create = self_group_create,
      .group_destroy = self_group_destroy,
      .exchange = self_exchange,
      .allgather = self_allgather,
      .allreduce = self_allreduce,
      .can_reduce = self_can_reduce,
      .broadcast = self_broadcast,
      .barrier = self_barrier,
      .board_create = self_board_create,
      .abort = self_abort,
      .destroy = self_destroy,
  };
  tspec_comm_t *comm = calloc(1, sizeof *comm);
  if (comm == NULL) {
    return NULL;
  }
  comm->ops = &ops;
  comm->nranks = 1;
  if (self_group_create(comm, NULL, 1, 0, &comm->world) != TSPEC_RT_OK) {
    free(comm);
    return NULL;
  }
  return comm;
}
