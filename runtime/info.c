// What a compiled program says about itself.
#include <string.h>

#include "runtime/file.h"
#include "runtime/options.h"

// An axis or a piece of one, as the language writes it: "model", "model:(2)4".
static void print_piece(const tspec_rt_program_t *program, const tspec_image_piece_t *piece,
                        FILE *stream) {
  const tspec_image_axis_t *axis = &program->mesh.axes[piece->axis];
  const char *name = tspec_rt_image_string(program->image, axis->name);
  if (piece->pre == 1 && piece->size == axis->size) {
    (void)fputs(name, stream);
  } else {
    (void)fprintf(stream, "%s:(%lld)%lld", name, (long long)piece->pre, (long long)piece->size);
  }
}

// A type with its sharding: "f32[8, 1024] @ [data, -]".
static void print_tensor(const tspec_rt_program_t *program, const tspec_rt_tensor_t *tensor,
                         FILE *stream) {
  char type[256];
  (void)fprintf(stream, "%s @ [", tspec_rt_tensor_print(tensor, type, sizeof type));
  for (int d = 0; d < tensor->layout.ndims; ++d) {
    tspec_rt_pieces_t split = tensor->layout.splits[d];
    (void)fputs(d > 0 ? ", " : "", stream);
    (void)fputs(split.count == 0 ? "-" : "", stream);
    for (int i = 0; i < split.count; ++i) {
      (void)fputs(i > 0 ? "*" : "", stream);
      print_piece(program, &split.pieces[i], stream);
    }
  }
  (void)fputs("]\n", stream);
}

static void print_mesh(const tspec_rt_program_t *program, FILE *stream) {
  (void)fputs("mesh ", stream);
  for (int i = 0; i < program->mesh.naxes; ++i) {
    (void)fprintf(stream, "%s%s=%lld", i > 0 ? ", " : "",
                  tspec_rt_image_string(program->image, program->mesh.axes[i].name),
                  (long long)program->mesh.axes[i].size);
  }
  (void)fprintf(stream, "%s(%lld rank%s)\n", program->mesh.naxes > 0 ? " " : "",
                (long long)program->mesh.nranks, program->mesh.nranks == 1 ? "" : "s");
}

void tspec_rt_print_info(const tspec_rt_program_t *program, FILE *stream) {
  const tspec_image_t *image = program->image;
  (void)fprintf(stream, "program %s\n", tspec_rt_image_string(image, image->name));
  (void)fprintf(stream, "compiler %s\n", tspec_rt_image_string(image, image->compiler));
  (void)fprintf(stream, "cpu %s\n", tspec_rt_image_string(image, image->cpu));
  (void)fprintf(stream, "features %s\n", tspec_rt_image_string(image, image->features));
  print_mesh(program, stream);
  for (int i = 0; i < program->nparams; ++i) {
    const tspec_rt_param_t *param = &program->params[i];
    (void)fprintf(stream, "%s %s: ", param->image->is_state != 0 ? "state" : "param", param->path);
    print_tensor(program, param->tensor, stream);
  }
  for (int i = 0; i < program->nentries; ++i) {
    const tspec_rt_entry_t *entry = &program->entries[i];
    (void)fprintf(stream, "entry %s\n", entry->name);
    for (int s = 0; s < entry->ninputs; ++s) {
      (void)fprintf(stream, "  input %s: ", entry->inputs[s].name);
      print_tensor(program, entry->inputs[s].buffer->tensor, stream);
    }
    for (int s = 0; s < entry->nresults; ++s) {
      (void)fprintf(stream, "  result %s: ", entry->results[s].name);
      print_tensor(program, entry->results[s].buffer->tensor, stream);
    }
    for (int s = 0; s < entry->nupdates; ++s) {
      (void)fprintf(stream, "  updates %s\n", program->params[entry->updates[s].param].path);
    }
  }
}

void tspec_rt_print_version(const tspec_rt_program_t *program, FILE *stream) {
  const tspec_image_t *image = program->image;
  (void)fprintf(stream, "%s, compiled by %s for %s\n", tspec_rt_image_string(image, image->name),
                tspec_rt_image_string(image, image->compiler),
                tspec_rt_image_string(image, image->cpu));
}

void tspec_rt_print_help(const tspec_rt_program_t *program, const char *executable, FILE *stream) {
  (void)fprintf(
      stream,
      "usage: %s ENTRY [options]\n"
      "       %s --info | --help | --version\n"
      "\n"
      "  --in NAME=FILE[:TENSOR]|NUMBER  an input, from .npy or .safetensors; a number fills it\n"
      "  --out NAME=FILE.npy             where a result goes (with --steps: the last step's)\n"
      "  --load FILE.safetensors         parameters and state; without it they start as declared\n"
      "  --save FILE.safetensors         parameters and state after the last step\n"
      "  --steps N                       run the entry N times (1)\n"
      "  --seed N                        for initial parameters (0)\n"
      "  --ranks N                       must be what the mesh needs: a check\n"
      "  --threads N                     threads of each rank (cores / ranks, at least 1)\n"
      "  --deterministic                 sums in rank order and the builtin matrix product\n"
      "  --profile FILE.json             a trace of kernels and collectives for Chrome or "
      "Perfetto\n"
      "  --counts FILE.json              what each collective sent, and what was predicted\n"
      "  --quiet                         no progress on stderr\n"
      "\n"
      "environment: TSPEC_TIMEOUT (seconds that a collective may take, 300), TSPEC_RT_DIR (folder\n"
      "of libtspec_mpi.so)\n"
      "\n"
      "entries:",
      executable, executable);
  for (int i = 0; i < program->nentries; ++i) {
    (void)fprintf(stream, " %s", program->entries[i].name);
  }
  (void)fputs("\n", stream);
}
