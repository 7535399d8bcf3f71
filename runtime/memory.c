// The one mapping that holds every tensor: parameters, one arena that the entries share, scratch of
// the collectives. Huge pages where the kernel gives them: the first touch of a small page can cost
// more than the work on it (perf.md 2).
#include <string.h>
#include <sys/mman.h>

#include "runtime/program.h"

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 };

static int64_t align(int64_t bytes, int64_t to) {
  return (bytes + to - 1) / to * to;
}

static int64_t reserve(int64_t *total, int64_t bytes) {
  int64_t offset = *total;
  *total += align(bytes, ALIGNMENT);
  return offset;
}

static tspec_rt_slot_t *find_update(const tspec_rt_entry_t *entry, int64_t param) {
  for (int i = 0; i < entry->nupdates; ++i) {
    if (entry->updates[i].param == param) {
      return &entry->updates[i];
    }
  }
  return NULL;
}

// True if the slot's value lies in a parameter that an update of this entry is about to overwrite.
static bool is_overwritten(const tspec_rt_entry_t *entry, const tspec_rt_slot_t *slot) {
  const tspec_image_buffer_t *buffer = slot->buffer->image;
  if (buffer->space != TSPEC_IMAGE_PARAM || buffer->index == slot->param) {
    return false;
  }
  const tspec_rt_slot_t *update = find_update(entry, buffer->index);
  return update != NULL && (update->buffer->image->space != TSPEC_IMAGE_PARAM ||
                            update->buffer->image->index != buffer->index);
}

// Walks everything that needs memory and gives it its place from `base` on; returns the bytes in
// all.
static int64_t lay_out(tspec_rt_program_t *program, uintptr_t base) {
  int64_t total = 0;
  for (int i = 0; i < program->nparams; ++i) {
    int64_t offset = reserve(&total, program->params[i].tensor->bytes);
    program->params[i].memory = (void *)(base + (uintptr_t)offset);
  }
  int64_t arena_bytes = 0;
  for (int i = 0; i < program->nentries; ++i) {
    const tspec_rt_entry_t *entry = &program->entries[i];
    if (entry->steps != NULL && entry->image->arena_bytes > arena_bytes) {
      arena_bytes = entry->image->arena_bytes;
    }
  }
  uintptr_t arena = base + (uintptr_t)reserve(&total, arena_bytes);
  program->scratch = (void *)(base + (uintptr_t)reserve(&total, program->scratch_bytes));
  for (int i = 0; i < program->nentries; ++i) {
    tspec_rt_entry_t *entry = &program->entries[i];
    for (int b = 0; b < entry->nbuffers && entry->steps != NULL; ++b) {
      const tspec_image_buffer_t *image = entry->buffers[b].image;
      entry->buffers[b].memory = image->space == TSPEC_IMAGE_PARAM
                                     ? program->params[image->index].memory
                                     : (void *)(arena + (uintptr_t)image->offset_bytes);
    }
    for (int s = 0; s < entry->nresults + entry->nupdates; ++s) {
      tspec_rt_slot_t *slot =
          s < entry->nresults ? &entry->results[s] : &entry->updates[s - entry->nresults];
      if (entry->steps != NULL && is_overwritten(entry, slot)) {
        slot->stage = (void *)(base + (uintptr_t)reserve(&total, slot->buffer->tensor->bytes));
      }
    }
  }
  return total;
}

static void set_pointers(tspec_rt_program_t *program) {
  for (int i = 0; i < program->nentries; ++i) {
    for (int s = 0; s < program->entries[i].nsteps; ++s) {
      tspec_rt_step_t *step = &program->entries[i].steps[s];
      for (int b = 0; b < step->nbuffers; ++b) {
        step->pointers[b] = step->buffers[b]->memory;
      }
    }
  }
}

tspec_rt_status_t tspec_rt_memory_create(tspec_rt_program_t *program, tspec_rt_error_t *error) {
  int64_t bytes = align(lay_out(program, 0) + 1, HUGE_PAGE);
  void *memory =
      mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return tspec_rt_fail(error, TSPEC_RT_MEMORY, "cannot get %.1f MiB of memory for tensors",
                         (double)bytes / (1 << 20));
  }
  (void)madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
  program->memory = memory;
  program->memory_bytes = bytes;
  (void)lay_out(program, (uintptr_t)memory);
  set_pointers(program);
  return TSPEC_RT_OK;
}

void tspec_rt_memory_destroy(tspec_rt_program_t *program) {
  if (program->memory != NULL) {
    (void)munmap(program->memory, (size_t)program->memory_bytes);
    program->memory = NULL;
  }
}
