// The public interface: what ran, and what it sent.
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/session.h"

static const char *collective_name(uint32_t kind) {
  static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter",
                                      "all_to_all", "permute",    "all_slice"};
  return kind < sizeof names / sizeof names[0] ? names[kind] : "?";
}

static tspec_rt_status_t cannot_write(tspec_rt_t *rt, const char *file) {
  return tspec_rt_fail(&rt->error, TSPEC_RT_FILE, "cannot write '%s': %s", file, strerror(errno));
}

// ---- counts -----------------------------------------------------------------------------------

static bool sends(const tspec_rt_step_t *step) {
  return step->image->kind == TSPEC_IMAGE_COLLECTIVE &&
         step->image->collective != TSPEC_IMAGE_ALL_SLICE;
}

static json_t *count_step(const tspec_rt_step_t *step, int index, int64_t bytes) {
  const tspec_comm_group_t *group = step->collectives[0].spec.group;
  return json_pack("{s:i, s:s, s:s, s:s, s:i, s:I, s:I}", "step", index, "kind",
                   collective_name(step->image->collective), "what", step->what, "where",
                   step->where, "ranks", group != NULL ? group->size : 1, "predicted_bytes",
                   (json_int_t)step->image->predicted_bytes, "bytes", (json_int_t)bytes);
}

// `bytes`: the busiest rank's of each step.
static json_t *count_entry(const tspec_rt_t *rt, const tspec_rt_entry_t *entry,
                           const int64_t *bytes) {
  json_t *collectives = json_array();
  int64_t total = 0;
  int64_t predicted = 0;
  for (int i = 0; i < entry->nsteps; ++i) {
    if (sends(&entry->steps[i])) {
      (void)json_array_append_new(collectives, count_step(&entry->steps[i], i, bytes[i]));
      total += bytes[i];
      predicted += entry->steps[i].image->predicted_bytes;
    }
  }
  const tspec_image_t *image = rt->program.image;
  return json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:o}", "program",
                   tspec_rt_image_string(image, image->name), "entry", entry->name, "ranks",
                   rt->comm->nranks, "runs", (json_int_t)entry->runs, "predicted_bytes",
                   (json_int_t)predicted, "bytes", (json_int_t)total, "collectives", collectives);
}

tspec_rt_status_t tspec_rt_write_counts(tspec_rt_t *rt, const char *name, const char *file) {
  const tspec_rt_entry_t *entry = tspec_rt_find_entry(rt, name);
  if (entry == NULL) {
    return TSPEC_RT_USAGE;
  }
  int64_t *bytes = calloc((size_t)entry->nsteps + 1, sizeof *bytes);
  if (bytes == NULL) {
    tspec_rt_abort(rt, TSPEC_RT_MEMORY); // the others would wait
  }
  for (int i = 0; i < entry->nsteps; ++i) {
    bytes[i] = entry->steps[i].sent_bytes;
  }
  tspec_rt_status_t status =
      rt->comm->ops->allreduce(rt->comm->world, bytes, entry->nsteps, TSPEC_RT_I64, TSPEC_RT_MAX);
  if (status != TSPEC_RT_OK) {
    status = tspec_rt_fail(&rt->error, status, "%s", rt->comm->error);
  } else if (rt->comm->rank == 0) {
    json_t *root = count_entry(rt, entry, bytes);
    if (json_dump_file(root, file, JSON_INDENT(2)) != 0) {
      status = cannot_write(rt, file);
    }
    json_decref(root);
  }
  free(bytes);
  return status;
}

// ---- profile ----------------------------------------------------------------------------------

// A JSON string's inside.
static void print_escaped(FILE *stream, const char *text) {
  for (; *text != '\0'; ++text) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      (void)fprintf(stream, "\\%c", c);
    } else if (c < 0x20) {
      (void)fprintf(stream, "\\u%04x", c);
    } else {
      (void)fputc(c, stream);
    }
  }
}

static void print_event(const tspec_rt_t *rt, const tspec_rt_event_t *event, FILE *stream) {
  static const char *const kinds[] = {"kernel", "gemm", "collective"};
  const tspec_rt_step_t *step = event->step;
  (void)fputs(",\n{\"name\": \"", stream);
  print_escaped(stream, step->what);
  (void)fprintf(stream, "\", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": %d, \"tid\": 0, ",
                kinds[step->image->kind], rt->comm->rank);
  (void)fprintf(stream, "\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"where\": \"",
                (double)event->begin_ns * 1e-3, (double)(event->end_ns - event->begin_ns) * 1e-3);
  print_escaped(stream, step->where);
  (void)fputs("\"", stream);
  if (step->image->kind == TSPEC_IMAGE_COLLECTIVE) {
    (void)fprintf(stream, ", \"kind\": \"%s\", \"bytes\": %lld",
                  collective_name(step->image->collective), (long long)step->sent_bytes);
  }
  if (step->image->kind == TSPEC_IMAGE_GEMM) {
    (void)fprintf(stream, ", \"by\": \"%s\"", tspec_gemm_name(&step->gemm));
  }
  (void)fputs("}}", stream);
}

// This rank's events as text. NULL if there is no memory for it.
static char *profile_text(const tspec_rt_t *rt, size_t *out_bytes) {
  char *text = NULL;
  FILE *stream = open_memstream(&text, out_bytes);
  if (stream == NULL) {
    return NULL;
  }
  (void)fprintf(stream,
                "%s{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, "
                "\"args\": {\"name\": \"rank %d\"}}",
                rt->comm->rank == 0 ? "" : ",\n", rt->comm->rank, rt->comm->rank);
  for (int64_t i = 0; i < rt->nevents; ++i) {
    print_event(rt, &rt->events[i], stream);
  }
  if (fclose(stream) != 0) {
    free(text);
    return NULL;
  }
  return text;
}

// Rank 0 gets the others' texts one after the other and writes them. `lengths` of all ranks; on
// failure it still receives.
static tspec_rt_status_t collect(tspec_rt_t *rt, FILE *stream, char *text, const int64_t *lengths) {
  tspec_comm_t *comm = rt->comm;
  if (comm->rank != 0) {
    tspec_comm_part_t part = {0, text, lengths[comm->rank]};
    return comm->ops->exchange(comm->world, &part, lengths[comm->rank] > 0, NULL, 0);
  }
  (void)fwrite(text, 1, (size_t)lengths[0], stream);
  for (int rank = 1; rank < comm->nranks; ++rank) {
    char *other = malloc((size_t)lengths[rank] + 1);
    if (other == NULL) {
      return tspec_rt_fail(&rt->error, TSPEC_RT_MEMORY, "out of memory");
    }
    tspec_comm_part_t part = {rank, other, lengths[rank]};
    tspec_rt_status_t status = comm->ops->exchange(comm->world, NULL, 0, &part, lengths[rank] > 0);
    (void)fwrite(other, 1, (size_t)lengths[rank], stream);
    free(other);
    TSPEC_RT_TRY(status);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t gather_profile(tspec_rt_t *rt, FILE *stream, char *text,
                                        int64_t *lengths) {
  int64_t *bytes = calloc(2 * (size_t)rt->comm->nranks, sizeof *bytes);
  if (bytes == NULL) {
    return tspec_rt_fail(&rt->error, TSPEC_RT_MEMORY, "out of memory");
  }
  for (int i = 0; i < rt->comm->nranks; ++i) {
    bytes[i] = sizeof *lengths;
    bytes[rt->comm->nranks + i] = i * (int64_t)sizeof *lengths;
  }
  tspec_rt_status_t status = rt->comm->ops->allgather(rt->comm->world, &lengths[rt->comm->rank],
                                                      lengths, bytes, bytes + rt->comm->nranks);
  free(bytes);
  return status == TSPEC_RT_OK ? collect(rt, stream, text, lengths) : status;
}

tspec_rt_status_t tspec_rt_write_profile(tspec_rt_t *rt, const char *file) {
  size_t length = 0;
  char *text = profile_text(rt, &length);
  int64_t *lengths = calloc((size_t)rt->comm->nranks, sizeof *lengths);
  if (text == NULL || lengths == NULL) {
    tspec_rt_abort(rt, TSPEC_RT_MEMORY); // the others would wait
  }
  lengths[rt->comm->rank] = (int64_t)length;
  FILE *stream = rt->comm->rank == 0 ? fopen(file, "w") : NULL;
  FILE *sink = stream != NULL || rt->comm->rank != 0 ? stream : fopen("/dev/null", "w");
  if (stream != NULL) {
    (void)fputs("[\n", stream);
  }
  int reason = errno;
  tspec_rt_status_t status = TSPEC_RT_OK;
  if (rt->comm->rank != 0 || sink != NULL) {
    status = gather_profile(rt, sink, text, lengths);
  }
  if (rt->comm->rank == 0 && status == TSPEC_RT_OK) {
    errno = reason;
    bool written = stream != NULL && fputs("\n]\n", stream) >= 0 && fflush(stream) == 0;
    status = written ? TSPEC_RT_OK : cannot_write(rt, file);
  }
  if (sink != NULL) {
    (void)fclose(sink);
  }
  free(lengths);
  free(text);
  return status;
}
