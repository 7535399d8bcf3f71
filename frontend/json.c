#include "frontend/json.h"

void tspec_json_string(tspec_buf_t *buf, const char *text) {
  if (text == NULL) {
    tspec_buf_puts(buf, "null");
    return;
  }
  tspec_buf_puts(buf, "\"");
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') {
      tspec_buf_printf(buf, "\\%c", *text);
    } else if ((unsigned char)*text < 0x20) {
      tspec_buf_printf(buf, "\\u%04x", (unsigned)*text);
    } else {
      tspec_buf_append(buf, text, 1);
    }
  }
  tspec_buf_puts(buf, "\"");
}

static bool is_first(const tspec_buf_t *buf) {
  char last = buf->length == 0 ? '{' : buf->text[buf->length - 1];
  return last == '{' || last == '[';
}

void tspec_json_key(tspec_buf_t *buf, const char *key) {
  tspec_buf_puts(buf, is_first(buf) ? "" : ", ");
  tspec_json_string(buf, key);
  tspec_buf_puts(buf, ": ");
}

void tspec_json_text(tspec_buf_t *buf, const char *key, const char *text) {
  tspec_json_key(buf, key);
  tspec_json_string(buf, text);
}

void tspec_json_number(tspec_buf_t *buf, const char *key, int64_t number) {
  tspec_json_key(buf, key);
  tspec_buf_printf(buf, "%lld", (long long)number);
}

void tspec_json_bool(tspec_buf_t *buf, const char *key, bool value) {
  tspec_json_key(buf, key);
  tspec_buf_puts(buf, value ? "true" : "false");
}

void tspec_json_item(tspec_buf_t *buf, int indent) {
  tspec_buf_printf(buf, "%s\n%*s", is_first(buf) ? "" : ",", indent, "");
}

void tspec_json_dims(tspec_buf_t *buf, tspec_type_t type) {
  tspec_buf_puts(buf, "[");
  for (int i = 0; i < type.rank; i++) {
    tspec_buf_printf(buf, "%s%lld", i > 0 ? ", " : "", (long long)type.dims[i]);
  }
  tspec_buf_puts(buf, "]");
}

void tspec_json_mesh(tspec_buf_t *buf, const tspec_mesh_t *mesh) {
  tspec_buf_puts(buf, "{");
  for (int i = 0; i < mesh->naxes; i++) {
    tspec_json_number(buf, mesh->axes[i].name, mesh->axes[i].size);
  }
  tspec_buf_puts(buf, "}");
}
