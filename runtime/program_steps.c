// The steps of an entry, worked out for this rank.
#include <string.h>

#include "runtime/program.h"

static tspec_rt_status_t out_of_memory(tspec_rt_error_t *error) {
  return tspec_rt_fail(error, TSPEC_RT_MEMORY, "out of memory while preparing an entry");
}

static void *get(tspec_rt_program_t *program, uint64_t count, size_t bytes) {
  return tspec_rt_pool_get(&program->pool, (size_t)count, bytes);
}

static bool same_pieces(tspec_rt_pieces_t a, tspec_rt_pieces_t b) {
  if (a.count != b.count) {
    return false;
  }
  for (int i = 0; i < a.count; ++i) {
    if (a.pieces[i].axis != b.pieces[i].axis || a.pieces[i].pre != b.pieces[i].pre ||
        a.pieces[i].size != b.pieces[i].size) {
      return false;
    }
  }
  return true;
}

// The group of this rank along some axes. Every rank walks the same steps, so all make the same
// groups in the same order.
static tspec_rt_status_t find_group(tspec_rt_program_t *program, tspec_rt_pieces_t axes,
                                    tspec_rt_error_t *error, tspec_comm_group_t **out_group) {
  *out_group = NULL;
  int64_t size = tspec_rt_pieces_size(axes);
  if (size == 1) {
    return TSPEC_RT_OK;
  }
  for (tspec_rt_group_t *group = program->groups; group != NULL; group = group->next) {
    if (same_pieces(group->axes, axes)) {
      *out_group = group->group;
      return TSPEC_RT_OK;
    }
  }
  tspec_rt_group_t *made = get(program, 1, sizeof *made);
  int *members = get(program, (uint64_t)size, sizeof *members);
  if (made == NULL || members == NULL) {
    return out_of_memory(error);
  }
  for (int64_t i = 0; i < size; ++i) {
    members[i] = (int)tspec_rt_pieces_move(&program->mesh, axes, program->rank, i);
  }
  int index = (int)tspec_rt_pieces_coordinate(&program->mesh, axes, program->rank);
  made->axes = axes;
  made->next = program->groups;
  tspec_rt_status_t status =
      program->comm->ops->group_create(program->comm, members, (int)size, index, &made->group);
  if (status != TSPEC_RT_OK) {
    return tspec_rt_fail(error, status, "%s", program->comm->error);
  }
  program->groups = made;
  *out_group = made->group;
  return TSPEC_RT_OK;
}

// Product of this rank's extents of dims [first, first + count).
static int64_t extents(const tspec_rt_buffer_t *buffer, uint32_t first, uint32_t count) {
  int64_t product = 1;
  for (uint32_t d = first; d < first + count; ++d) {
    product *= buffer->tensor->box.end[d] - buffer->tensor->box.begin[d];
  }
  return product;
}

static int64_t resolve_arg(const tspec_rt_program_t *program, const tspec_rt_entry_t *entry,
                           const tspec_image_arg_t *arg) {
  if (arg->kind == TSPEC_IMAGE_ARG_RANK_ON) {
    tspec_rt_pieces_t pieces = tspec_rt_image_pieces(program->image, arg->pieces);
    return tspec_rt_pieces_coordinate(&program->mesh, pieces, program->rank) == 0;
  }
  const tspec_rt_box_t *box = &entry->buffers[arg->buffer].tensor->box;
  if (arg->kind == TSPEC_IMAGE_ARG_ELEMS) {
    return extents(&entry->buffers[arg->buffer], 0, arg->dim + 1);
  }
  return arg->kind == TSPEC_IMAGE_ARG_OFFSET ? box->begin[arg->dim]
                                             : box->end[arg->dim] - box->begin[arg->dim];
}

static tspec_rt_status_t prepare_kernel(tspec_rt_program_t *program, const tspec_rt_entry_t *entry,
                                        tspec_rt_step_t *step, tspec_rt_error_t *error) {
  const tspec_image_step_t *image = step->image;
  const tspec_image_arg_t *args = tspec_rt_image_span(program->image, image->args);
  step->kernel = program->compiled->kernels[image->function];
  step->args = get(program, image->args.count, sizeof *step->args);
  if (step->args == NULL) {
    return out_of_memory(error);
  }
  for (uint32_t i = 0; i < image->args.count; ++i) {
    step->args[i] = resolve_arg(program, entry, &args[i]);
  }
  step->range = image->range_arg == ~0u ? 1 : step->args[image->range_arg];
  return TSPEC_RT_OK;
}

// Elements of dims [first, first + count) of the whole tensor.
static double whole_extents(const tspec_rt_buffer_t *buffer, uint32_t first, uint32_t count) {
  double product = 1;
  for (uint32_t i = first; i < first + count; ++i) {
    product *= (double)buffer->tensor->sizes[i];
  }
  return product;
}

// True if the entry's products take less time in all its runs than the library's start, which
// compiles its kernels: some 30 ms on a CPU without AVX-512. Told from whole tensors, so that all
// ranks choose alike: copies of a value must be the same bits on each.
static bool has_few_products(const tspec_rt_program_t *program, const tspec_rt_entry_t *entry) {
  enum { PACKING_ROWS = 16 }; // packing rhs costs the builtin kernel as much as so many rows of lhs
  static const double most = 1 << 29; // multiply-adds
  const tspec_image_step_t *images = tspec_rt_image_span(program->image, entry->image->steps);
  double work = 0;
  for (uint32_t i = 0; i < entry->image->steps.count; ++i) {
    if (images[i].kind == TSPEC_IMAGE_GEMM) {
      const uint32_t *indices = tspec_rt_image_span(program->image, images[i].buffers);
      const tspec_rt_buffer_t *rhs = &entry->buffers[indices[1]];
      const tspec_rt_buffer_t *out = &entry->buffers[indices[2]];
      uint32_t rhs_k = images[i].nbatch + (images[i].rhs_transposed ? images[i].nn : 0);
      work += whole_extents(out, 0, (uint32_t)out->tensor->layout.ndims) *
              whole_extents(rhs, rhs_k, images[i].nk);
      work += PACKING_ROWS * whole_extents(rhs, 0, (uint32_t)rhs->tensor->layout.ndims);
    }
  }
  return program->runs > 0 && work * (double)program->runs < most;
}

static tspec_rt_status_t prepare_gemm(const tspec_rt_program_t *program,
                                      const tspec_rt_entry_t *entry, tspec_rt_step_t *step,
                                      tspec_rt_error_t *error) {
  const tspec_image_step_t *image = step->image;
  const tspec_rt_buffer_t *lhs = step->buffers[0];
  const tspec_rt_buffer_t *rhs = step->buffers[1];
  const tspec_rt_buffer_t *out = step->buffers[2];
  uint32_t batch = image->nbatch;
  uint32_t lhs_m = image->lhs_transposed ? batch + image->nk : batch;
  uint32_t lhs_k = image->lhs_transposed ? batch : batch + image->nm;
  uint32_t rhs_n = image->rhs_transposed ? batch : batch + image->nk;
  uint32_t rhs_k = image->rhs_transposed ? batch + image->nn : batch;
  tspec_gemm_t gemm = {
      .batch = extents(lhs, 0, batch),
      .m = extents(lhs, lhs_m, image->nm),
      .n = extents(rhs, rhs_n, image->nn),
      .k = extents(lhs, lhs_k, image->nk),
      .lhs_transposed = image->lhs_transposed != 0,
      .rhs_transposed = image->rhs_transposed != 0,
      .in = lhs->tensor->dtype,
      .out = out->tensor->dtype,
      .deterministic = program->deterministic,
      .seldom = entry->has_few_products,
  };
  bool fits = gemm.batch == extents(rhs, 0, batch) && gemm.k == extents(rhs, rhs_k, image->nk) &&
              gemm.batch == extents(out, 0, batch) && gemm.m == extents(out, batch, image->nm) &&
              gemm.n == extents(out, batch + image->nm, image->nn);
  if (!fits) {
    return tspec_rt_fail(error, TSPEC_RT_IMAGE,
                         "program image: blocks of the product '%s' at %s do not fit", step->what,
                         step->where);
  }
  step->gemm_is_empty = gemm.batch == 0 || gemm.m == 0 || gemm.n == 0;
  step->gemm_is_zero = gemm.k == 0;
  if (step->gemm_is_empty || step->gemm_is_zero) {
    return TSPEC_RT_OK;
  }
  step->gemm = gemm;
  return tspec_gemm_prepare(&step->gemm) ? TSPEC_RT_OK : out_of_memory(error);
}

// True if the two lie in the same place, or share bytes.
static bool buffers_overlap(const tspec_rt_buffer_t *a, const tspec_rt_buffer_t *b) {
  if (a->image->space != b->image->space) {
    return false;
  }
  if (a->image->space == TSPEC_IMAGE_PARAM) {
    return a->image->index == b->image->index;
  }
  return a->image->offset_bytes < b->image->offset_bytes + b->tensor->bytes &&
         b->image->offset_bytes < a->image->offset_bytes + a->tensor->bytes;
}

// Results lie apart from each other and from operands; an all_reduce may work in place.
static tspec_rt_status_t check_places(const tspec_rt_step_t *step, tspec_rt_error_t *error) {
  for (int r = step->noperands; r < step->nbuffers; ++r) {
    const tspec_rt_buffer_t *to = step->buffers[r];
    for (int i = 0; i < r; ++i) {
      const tspec_rt_buffer_t *other = step->buffers[i];
      bool in_place = step->image->collective == TSPEC_IMAGE_ALL_REDUCE &&
                      i == r - step->noperands && other->image->space == to->image->space &&
                      (to->image->space == TSPEC_IMAGE_PARAM ||
                       other->image->offset_bytes == to->image->offset_bytes);
      if (buffers_overlap(other, to) && !in_place) {
        return tspec_rt_fail(error, TSPEC_RT_IMAGE,
                             "program image: %s at %s overwrites what it reads or makes",
                             step->what, step->where);
      }
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_collective_spec_t make_spec(const tspec_rt_program_t *program,
                                            const tspec_rt_step_t *step, int operand,
                                            tspec_comm_group_t *group) {
  const tspec_image_step_t *image = step->image;
  bool has_parts = image->windows.count > 0;
  int result = has_parts ? step->noperands : step->noperands + operand;
  tspec_rt_collective_spec_t spec = {
      .kind = image->collective,
      .reduce = (tspec_rt_reduce_t)image->reduce,
      .from = step->buffers[operand]->tensor,
      .to = step->buffers[result]->tensor,
      .axes = tspec_rt_image_pieces(program->image, image->axes),
      .group = group,
      .deterministic = program->deterministic,
  };
  if (has_parts) {
    const tspec_image_window_t *windows = tspec_rt_image_span(program->image, image->windows);
    spec.windows = windows + (ptrdiff_t)operand * spec.to->layout.ndims;
  }
  return spec;
}

static void reserve_scratch(tspec_rt_program_t *program, int64_t bytes) {
  program->scratch_bytes = bytes > program->scratch_bytes ? bytes : program->scratch_bytes;
}

static tspec_rt_status_t prepare_joint(tspec_rt_program_t *program, tspec_rt_step_t *step,
                                       const tspec_rt_collective_spec_t *specs,
                                       tspec_rt_error_t *error) {
  step->joint = get(program, 1, sizeof *step->joint);
  if (step->joint == NULL) {
    return out_of_memory(error);
  }
  *step->joint = (tspec_rt_joint_t){.count = step->noperands, .specs = specs};
  TSPEC_RT_TRY(
      tspec_rt_joint_plan(&program->mesh, program->rank, &program->pool, error, step->joint));
  step->collectives = step->joint->plans;
  step->sent_bytes = step->joint->sent_bytes;
  reserve_scratch(program, step->joint->scratch_bytes);
  return TSPEC_RT_OK;
}

static tspec_rt_status_t prepare_collective(tspec_rt_program_t *program, tspec_rt_step_t *step,
                                            tspec_comm_group_t *group, tspec_rt_error_t *error) {
  bool has_parts = step->image->windows.count > 0;
  step->noperands = has_parts ? step->nbuffers - 1 : step->nbuffers / 2;
  TSPEC_RT_TRY(check_places(step, error));
  uint64_t count = (uint64_t)step->noperands;
  tspec_rt_collective_spec_t *specs = get(program, count, sizeof *specs);
  step->collectives = get(program, count, sizeof *step->collectives);
  if (specs == NULL || step->collectives == NULL) {
    return out_of_memory(error);
  }
  for (int i = 0; i < step->noperands; ++i) {
    specs[i] = make_spec(program, step, i, group);
  }
  if (!has_parts && step->noperands > 1) {
    return prepare_joint(program, step, specs, error);
  }
  for (int i = 0; i < step->noperands; ++i) {
    tspec_rt_collective_t *plan = &step->collectives[i];
    TSPEC_RT_TRY(tspec_rt_collective_plan(&program->mesh, program->rank, &specs[i], &program->pool,
                                          error, plan));
    step->sent_bytes += plan->sent_bytes;
    reserve_scratch(program, plan->scratch_bytes);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t prepare_step(tspec_rt_program_t *program, tspec_rt_entry_t *entry,
                                      tspec_rt_step_t *step, tspec_comm_group_t *group,
                                      tspec_rt_error_t *error) {
  const tspec_image_step_t *image = step->image;
  const uint32_t *indices = tspec_rt_image_span(program->image, image->buffers);
  step->what = tspec_rt_image_string(program->image, image->what);
  step->where = tspec_rt_image_string(program->image, image->where);
  step->nbuffers = (int)image->buffers.count;
  step->buffers =
      (tspec_rt_buffer_t **)get(program, image->buffers.count, sizeof(tspec_rt_buffer_t *));
  step->pointers = (void **)get(program, image->buffers.count, sizeof(void *));
  if (step->buffers == NULL || step->pointers == NULL) {
    return out_of_memory(error);
  }
  for (int i = 0; i < step->nbuffers; ++i) {
    step->buffers[i] = &entry->buffers[indices[i]];
  }
  switch (image->kind) {
  case TSPEC_IMAGE_KERNEL:
    return prepare_kernel(program, entry, step, error);
  case TSPEC_IMAGE_GEMM:
    return prepare_gemm(program, entry, step, error);
  default:
    return prepare_collective(program, step, group, error);
  }
}

// What the image's check cannot see as it knows no rank: blocks of one place agree in size.
static tspec_rt_status_t check_blocks(const tspec_rt_program_t *program,
                                      const tspec_rt_entry_t *entry, tspec_rt_error_t *error) {
  for (int i = 0; i < entry->nbuffers; ++i) {
    const tspec_rt_buffer_t *buffer = &entry->buffers[i];
    if (buffer->image->space == TSPEC_IMAGE_PARAM &&
        buffer->tensor->bytes > program->params[buffer->image->index].tensor->bytes) {
      return tspec_rt_fail(error, TSPEC_RT_IMAGE, "program image: a view larger than '%s'",
                           program->params[buffer->image->index].path);
    }
  }
  for (int i = 0; i < entry->nupdates; ++i) {
    const tspec_rt_param_t *param = &program->params[entry->updates[i].param];
    if (entry->updates[i].buffer->tensor->bytes != param->tensor->bytes) {
      return tspec_rt_fail(error, TSPEC_RT_IMAGE, "program image: the update of '%s' does not fit",
                           param->path);
    }
  }
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_program_prepare(tspec_rt_program_t *program, tspec_comm_t *comm,
                                           tspec_rt_entry_t *entry, tspec_rt_error_t *error) {
  program->comm = comm;
  if (entry->steps != NULL) {
    return TSPEC_RT_OK;
  }
  uint32_t count = entry->image->steps.count;
  const tspec_image_step_t *images = tspec_rt_image_span(program->image, entry->image->steps);
  entry->steps = get(program, count, sizeof *entry->steps);
  if (entry->steps == NULL) {
    return out_of_memory(error);
  }
  entry->has_few_products = has_few_products(program, entry);
  tspec_rt_status_t status = check_blocks(program, entry, error);
  for (uint32_t i = 0; i < count; ++i) {
    tspec_rt_step_t *step = &entry->steps[i];
    step->image = &images[i];
    entry->nsteps = (int)i + 1;
    tspec_comm_group_t *group = NULL;
    if (images[i].kind == TSPEC_IMAGE_COLLECTIVE) {
      // Also after a failure: the others wait for this rank to take part.
      TSPEC_RT_TRY(find_group(program, tspec_rt_image_pieces(program->image, images[i].axes), error,
                              &group));
    }
    if (status == TSPEC_RT_OK) {
      status = prepare_step(program, entry, step, group, error);
    }
  }
  return status;
}
