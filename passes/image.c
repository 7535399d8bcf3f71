// Writes the program image. Records are appended to one growing block, children before the arrays
// that point to them; offset 0 is the header, filled in at the end.
#include "passes/image.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/str.h"
#include "ir/program_steps.h"
#include "passes/collectives.h"
#include "passes/fuse_gemm.h"
#include "passes/kernel.h"
#include "runtime/image.h"

typedef struct writer_t {
  const tspec_program_t *program;
  const tspec_sources_t *sources;
  tspec_arena_t *arena;
  tspec_buf_t bytes;
  tspec_names_t params;  ///< of the program, by path
  tspec_names_t strings; ///< offset + 1 by text
  tspec_names_t tensors; ///< index + 1 by type and sharding
  TSPEC_VEC(tspec_image_tensor_t) tensor_records;
} writer_t;

/// What belongs to one entry.
typedef struct entry_writer_t {
  writer_t *w;
  const tspec_func_t *func;
  TSPEC_VEC(tspec_image_buffer_t) buffers; ///< one per value id, then those of dims alone
  TSPEC_VEC(tspec_image_step_t) steps;
  int64_t arena_bytes;
} entry_writer_t;

static void *number(size_t index) {
  return (void *)(uintptr_t)(index + 1);
}

static size_t from_number(const void *number) {
  return (size_t)(uintptr_t)number - 1;
}

static tspec_image_span_t put_span(writer_t *w, const void *records, size_t count, size_t bytes) {
  if (count == 0) {
    return (tspec_image_span_t){0, 0};
  }
  static const char zeros[8] = {0};
  tspec_buf_append(&w->bytes, zeros, (8 - w->bytes.length % 8) % 8);
  tspec_image_span_t span = {(uint32_t)w->bytes.length, (uint32_t)count};
  tspec_buf_append(&w->bytes, records, count * bytes);
  return span;
}

#define PUT_VEC(w, vec) put_span((w), (vec).items, (vec).count, sizeof *(vec).items)

static tspec_image_string_t put_string(writer_t *w, const char *text) {
  if (text == NULL) {
    return 0;
  }
  const void *known = tspec_names_get(&w->strings, text);
  if (known != NULL) {
    return (tspec_image_string_t)from_number(known);
  }
  size_t offset = w->bytes.length, length = strlen(text);
  tspec_buf_append(&w->bytes, text, length + 1);
  tspec_names_set(w->arena, &w->strings, tspec_arena_strdup(w->arena, text, length),
                  number(offset));
  return (tspec_image_string_t)offset;
}

static tspec_image_span_t put_pieces(writer_t *w, const tspec_axis_t *axes, int64_t naxes) {
  tspec_image_piece_t *pieces = TSPEC_ARENA_NEW(w->arena, tspec_image_piece_t, naxes);
  for (int64_t i = 0; i < naxes; i++) {
    pieces[i] = (tspec_image_piece_t){axes[i].axis, axes[i].pre, axes[i].size};
  }
  return put_span(w, pieces, (size_t)naxes, sizeof *pieces);
}

// ---- tensors and buffers -----------------------------------------------------------------------

static uint32_t put_tensor(writer_t *w, tspec_type_t type, const tspec_sharding_t *sharding) {
  const char *key = tspec_arena_printf(w->arena, "%s %s", tspec_type_print(w->arena, type),
                                       tspec_sharding_print(w->arena, &w->program->mesh, sharding));
  const void *known = tspec_names_get(&w->tensors, key);
  if (known != NULL) {
    return (uint32_t)from_number(known);
  }
  tspec_image_dim_t *dims = TSPEC_ARENA_NEW(w->arena, tspec_image_dim_t, type.rank);
  for (int i = 0; i < type.rank; i++) {
    dims[i].size = type.dims[i];
    dims[i].pieces = put_pieces(w, sharding->dims[i].axes, sharding->dims[i].naxes);
  }
  tspec_image_tensor_t tensor = {
      .dtype = (uint32_t)type.dtype,
      .dims = put_span(w, dims, (size_t)type.rank, sizeof *dims),
      .pending = put_pieces(w, sharding->pending, sharding->npending),
  };
  size_t index = w->tensor_records.count;
  TSPEC_VEC_PUSH(w->arena, &w->tensor_records, tensor);
  tspec_names_set(w->arena, &w->tensors, key, number(index));
  return (uint32_t)index;
}

static int64_t largest_bytes(writer_t *w, tspec_type_t type, const tspec_sharding_t *sharding) {
  return tspec_type_bytes(tspec_sharding_local_type(w->arena, sharding, type));
}

static int64_t param_index(const writer_t *w, const char *path) {
  const tspec_param_t *param = tspec_names_get(&w->params, path);
  TSPEC_CHECK(param != NULL, "no parameter '%s'", path);
  return param - w->program->params;
}

static void put_buffer(entry_writer_t *e, const tspec_value_t *value) {
  const tspec_value_t *behind = value;
  while (behind->def != NULL && behind->def->kind == TSPEC_OP_view) {
    behind = behind->def->operands[0];
  }
  tspec_image_buffer_t buffer = {
      .tensor = put_tensor(e->w, value->type, value->sharding),
      .space = TSPEC_IMAGE_ARENA,
      .offset_bytes = value->offset_bytes,
      .index = -1,
      .capacity_bytes = largest_bytes(e->w, value->type, value->sharding),
  };
  if (behind->def == NULL && e->func->args[behind->index].kind != TSPEC_SLOT_INPUT) {
    buffer.space = TSPEC_IMAGE_PARAM;
    buffer.offset_bytes = 0;
    buffer.index = param_index(e->w, e->func->args[behind->index].name);
  }
  TSPEC_CHECK(e->buffers.count == (size_t)value->id, "values are not numbered");
  TSPEC_VEC_PUSH(e->w->arena, &e->buffers, buffer);
}

/// A buffer that stands for a dim which no real buffer has; nothing reads or writes it.
static uint32_t put_dim_buffer(entry_writer_t *e, int64_t size, const tspec_axis_t *axes,
                               int64_t naxes) {
  tspec_dim_t dim = {.naxes = (int)naxes, .axes = axes};
  tspec_sharding_t sharding = {.rank = 1, .dims = &dim};
  tspec_type_t type = tspec_type_make(e->w->arena, TSPEC_DTYPE_BOOL, 1, &size);
  tspec_image_buffer_t buffer = {
      .tensor = put_tensor(e->w, type, &sharding),
      .space = TSPEC_IMAGE_ARENA,
      .index = -1,
      .capacity_bytes = largest_bytes(e->w, type, &sharding),
  };
  if (e->arena_bytes < buffer.capacity_bytes) {
    e->arena_bytes = buffer.capacity_bytes;
  }
  TSPEC_VEC_PUSH(e->w->arena, &e->buffers, buffer);
  return (uint32_t)(e->buffers.count - 1);
}

// ---- steps -------------------------------------------------------------------------------------

static const tspec_value_t *buffer_of(const tspec_op_t *op, int64_t index) {
  return index < op->noperands ? op->operands[index] : op->results[index - op->noperands];
}

static void put_args(entry_writer_t *e, const tspec_op_t *op, tspec_image_step_t *step) {
  const tspec_attr_t *ints = tspec_op_get_attr(op, "args");
  const tspec_attr_t *axes = tspec_op_get_attr(op, "axes");
  int64_t count = ints->count / TSPEC_KERNEL_ARG_INTS;
  tspec_image_arg_t *args = TSPEC_ARENA_NEW(e->w->arena, tspec_image_arg_t, count);
  for (int64_t i = 0; i < count; i++) {
    const int64_t *in = ints->ints + i * TSPEC_KERNEL_ARG_INTS;
    args[i].kind = (uint32_t)in[0];
    if (in[0] == TSPEC_IMAGE_ARG_RANK_ON) {
      args[i].pieces = put_pieces(e->w, axes->axes + in[3], in[4]);
    } else if (in[1] < 0) {
      args[i].buffer = put_dim_buffer(e, in[2], axes->axes + in[3], in[4]);
    } else {
      args[i].buffer = (uint32_t)buffer_of(op, in[1])->id;
      args[i].dim = (uint32_t)in[2];
    }
  }
  int64_t range = tspec_op_get_attr(op, "range")->i;
  step->args = put_span(e->w, args, (size_t)count, sizeof *args);
  step->range_arg = range < 0 ? ~0u : (uint32_t)range;
}

static void put_kernel(entry_writer_t *e, const tspec_op_t *op, tspec_image_step_t *step) {
  const char *callee = tspec_op_get_attr(op, "callee")->string;
  const tspec_kernel_t *kernel = tspec_kernel_find(e->w->program, callee);
  TSPEC_CHECK(kernel != NULL, "no kernel '%s'", callee);
  step->kind = TSPEC_IMAGE_KERNEL;
  step->function = (uint32_t)(kernel - e->w->program->kernels);
  put_args(e, op, step);
}

static void put_gemm(const tspec_op_t *op, tspec_image_step_t *step) {
  tspec_gemm_form_t form = tspec_gemm_form(op);
  step->kind = TSPEC_IMAGE_GEMM;
  step->nbatch = (uint32_t)form.nbatch;
  step->nm = (uint32_t)form.nm;
  step->nn = (uint32_t)form.nn;
  step->nk = (uint32_t)form.nk;
  step->lhs_transposed = form.lhs_transposed;
  step->rhs_transposed = form.rhs_transposed;
}

static uint32_t collective_kind(tspec_op_kind_t kind) {
  switch ((int)kind) {
  case TSPEC_OP_all_reduce:
    return TSPEC_IMAGE_ALL_REDUCE;
  case TSPEC_OP_all_gather:
    return TSPEC_IMAGE_ALL_GATHER;
  case TSPEC_OP_reduce_scatter:
    return TSPEC_IMAGE_REDUCE_SCATTER;
  case TSPEC_OP_all_to_all:
    return TSPEC_IMAGE_ALL_TO_ALL;
  case TSPEC_OP_permute:
    return TSPEC_IMAGE_PERMUTE;
  case TSPEC_OP_all_slice:
    return TSPEC_IMAGE_ALL_SLICE;
  default:
    TSPEC_CHECK(false, "'%s' is no step", tspec_op_info(kind)->name);
    return 0;
  }
}

/// Which parts of its operands a collective puts together.
static void put_windows(entry_writer_t *e, const tspec_op_t *op, tspec_image_step_t *step) {
  if (!tspec_op_has_parts(op)) {
    return;
  }
  const tspec_step_t *parts = tspec_op_parts(op, &e->w->program->mesh, e->w->arena);
  int rank = op->results[0]->type.rank;
  int count = op->noperands * rank;
  tspec_image_window_t *windows = TSPEC_ARENA_NEW(e->w->arena, tspec_image_window_t, count);
  for (int i = 0; i < count; i++) {
    const tspec_window_t *window = &parts[i / rank].windows[i % rank];
    windows[i] = (tspec_image_window_t){window->lo, window->start, window->step, window->count};
  }
  const tspec_attr_t *value = tspec_op_get_attr(op, "value");
  step->windows = put_span(e->w, windows, (size_t)count, sizeof *windows);
  step->fills = !tspec_windows_cover(parts[0].windows, op->noperands, rank);
  step->fill = value == NULL ? 0 : value->f;
}

static void put_collective(entry_writer_t *e, const tspec_op_t *op, tspec_image_step_t *step) {
  const tspec_attr_t *axes = tspec_op_get_attr(op, "axes");
  const tspec_attr_t *kind = tspec_op_get_attr(op, "kind");
  tspec_collective_use_t use;
  step->kind = TSPEC_IMAGE_COLLECTIVE;
  step->collective = collective_kind(op->kind);
  step->reduce = kind == NULL ? 0 : (uint32_t)kind->reduce;
  step->axes = put_pieces(e->w, axes->axes, axes->count);
  put_windows(e, op, step);
  if (tspec_collective_of(e->w->program, op, &use)) {
    step->predicted_bytes = use.bytes;
  }
}

static const char *step_name(const tspec_op_t *op) {
  if (op->because != NULL) {
    return op->because;
  }
  if (op->kind == TSPEC_OP_kernel) {
    return tspec_op_get_attr(op, "callee")->string;
  }
  return op->spelling != NULL        ? op->spelling
         : op->kind == TSPEC_OP_gemm ? "dot"
                                     : tspec_op_info(op->kind)->name;
}

static void put_step(entry_writer_t *e, const tspec_op_t *op) {
  writer_t *w = e->w;
  tspec_image_step_t step = {.range_arg = ~0u};
  int count = op->noperands + op->nresults;
  uint32_t *buffers = TSPEC_ARENA_NEW(w->arena, uint32_t, count);
  for (int i = 0; i < count; i++) {
    buffers[i] = (uint32_t)buffer_of(op, i)->id;
  }
  if (op->kind == TSPEC_OP_kernel) {
    put_kernel(e, op, &step);
  } else if (op->kind == TSPEC_OP_gemm) {
    put_gemm(op, &step);
  } else {
    put_collective(e, op, &step);
  }
  bool is_collective = step.kind == TSPEC_IMAGE_COLLECTIVE;
  step.buffers = put_span(w, buffers, (size_t)count, sizeof *buffers);
  step.what = put_string(w, step_name(op));
  if (w->sources != NULL) {
    step.where = put_string(w, is_collective ? tspec_collective_lines(w->arena, w->sources, op)
                                             : tspec_range_brief(w->sources, op->range));
  }
  TSPEC_VEC_PUSH(w->arena, &e->steps, step);
}

// ---- entries -----------------------------------------------------------------------------------

/// Buffers of all values, and the inputs' slots.
static tspec_image_span_t put_values(entry_writer_t *e) {
  const tspec_func_t *func = e->func;
  tspec_image_slot_t *inputs = TSPEC_ARENA_NEW(e->w->arena, tspec_image_slot_t, func->nargs);
  size_t ninputs = 0;
  for (int i = 0; i < func->nargs; i++) {
    const tspec_arg_t *arg = &func->args[i];
    put_buffer(e, arg->value);
    if (arg->kind == TSPEC_SLOT_INPUT) {
      inputs[ninputs++] =
          (tspec_image_slot_t){put_string(e->w, arg->name), (uint32_t)arg->value->id, -1};
    }
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      put_buffer(e, op->results[i]);
    }
  }
  return put_span(e->w, inputs, ninputs, sizeof *inputs);
}

/// The slots of named results, or of new values of parameters.
static tspec_image_span_t put_results(entry_writer_t *e, bool updates) {
  const tspec_func_t *func = e->func;
  tspec_image_slot_t *slots = TSPEC_ARENA_NEW(e->w->arena, tspec_image_slot_t, func->nresults);
  size_t count = 0;
  for (int i = 0; i < func->nresults; i++) {
    const tspec_result_t *result = &func->results[i];
    if ((result->kind != TSPEC_SLOT_RESULT) == updates) {
      slots[count++] =
          (tspec_image_slot_t){put_string(e->w, result->name), (uint32_t)result->value->id,
                               updates ? param_index(e->w, result->name) : -1};
    }
  }
  return put_span(e->w, slots, count, sizeof *slots);
}

static tspec_image_entry_t put_entry(writer_t *w, const tspec_func_t *func) {
  entry_writer_t e = {.w = w, .func = func, .arena_bytes = func->arena_bytes};
  tspec_image_entry_t entry = {.name = put_string(w, func->name)};
  entry.inputs = put_values(&e);
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    if (op->kind != TSPEC_OP_view) {
      put_step(&e, op);
    }
  }
  entry.results = put_results(&e, false);
  entry.updates = put_results(&e, true);
  entry.buffers = PUT_VEC(w, e.buffers);
  entry.steps = PUT_VEC(w, e.steps);
  entry.arena_bytes = e.arena_bytes;
  return entry;
}

static tspec_image_span_t put_params(writer_t *w) {
  const tspec_program_t *program = w->program;
  tspec_image_param_t *params = TSPEC_ARENA_NEW(w->arena, tspec_image_param_t, program->nparams);
  for (int i = 0; i < program->nparams; i++) {
    const tspec_param_t *param = &program->params[i];
    params[i].path = put_string(w, param->path);
    params[i].tensor = put_tensor(w, param->type, param->sharding);
    params[i].is_state = param->is_state;
    params[i].init = (uint32_t)param->init;
    memcpy(params[i].args, param->init_args, sizeof params[i].args);
  }
  return put_span(w, params, (size_t)program->nparams, sizeof *params);
}

static tspec_image_span_t put_mesh(writer_t *w) {
  const tspec_mesh_t *mesh = &w->program->mesh;
  tspec_image_axis_t *axes = TSPEC_ARENA_NEW(w->arena, tspec_image_axis_t, mesh->naxes);
  for (int i = 0; i < mesh->naxes; i++) {
    axes[i] =
        (tspec_image_axis_t){.name = put_string(w, mesh->axes[i].name), .size = mesh->axes[i].size};
  }
  return put_span(w, axes, (size_t)mesh->naxes, sizeof *axes);
}

/// FNV-1a of everything behind the header: two images with the same hash run the same steps.
static uint64_t hash_bytes(const char *bytes, size_t count) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < count; i++) {
    hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  }
  return hash;
}

const void *tspec_image_build(const tspec_program_t *program, const tspec_image_target_t *target,
                              const tspec_sources_t *sources, tspec_arena_t *arena,
                              size_t *out_bytes) {
  writer_t w = {.program = program, .sources = sources, .arena = arena};
  w.params = tspec_program_param_names(program, arena);
  tspec_image_t image = {.magic = {0}, .version = TSPEC_IMAGE_VERSION};
  memcpy(image.magic, TSPEC_IMAGE_MAGIC, sizeof image.magic);
  tspec_buf_append(&w.bytes, (const char *)&image, sizeof image);
  image.name = put_string(&w, program->name);
  image.cpu = put_string(&w, target->cpu);
  image.features = put_string(&w, target->features);
  image.compiler = put_string(&w, target->compiler);
  image.axes = put_mesh(&w);
  image.params = put_params(&w);
  tspec_image_entry_t *entries = TSPEC_ARENA_NEW(arena, tspec_image_entry_t, program->nfuncs);
  for (int i = 0; i < program->nfuncs; i++) {
    entries[i] = put_entry(&w, program->funcs[i]);
  }
  image.entries = put_span(&w, entries, (size_t)program->nfuncs, sizeof *entries);
  image.tensors = PUT_VEC(&w, w.tensor_records);
  image.size_bytes = w.bytes.length;
  image.schedule_hash = hash_bytes(w.bytes.text + sizeof image, w.bytes.length - sizeof image);
  memcpy(w.bytes.text, &image, sizeof image);
  const void *copy = tspec_arena_copy(arena, w.bytes.text, w.bytes.length);
  *out_bytes = w.bytes.length;
  tspec_buf_deinit(&w.bytes);
  return copy;
}

const char *tspec_image_symbol(const tspec_program_t *program, tspec_arena_t *arena) {
  char *symbol = tspec_arena_printf(arena, "tspec_program_%s", program->name);
  for (char *at = symbol; *at != '\0'; at++) {
    *at = isalnum((unsigned char)*at) ? *at : '_';
  }
  return symbol;
}
