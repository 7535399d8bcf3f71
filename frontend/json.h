// Pieces of JSON, appended to a text.
#ifndef TSPEC_FRONTEND_JSON_H
#define TSPEC_FRONTEND_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/str.h"
#include "ir/base/type.h"
#include "ir/shard/mesh.h"

/// A string with its quotes; NULL: null.
void tspec_json_string(tspec_buf_t *buf, const char *text);
/// "key": before a value; the comma too, unless the text ends in an opening bracket.
void tspec_json_key(tspec_buf_t *buf, const char *key);
/// A key with a string, a number, true or false.
void tspec_json_text(tspec_buf_t *buf, const char *key, const char *text);
void tspec_json_number(tspec_buf_t *buf, const char *key, int64_t number);
void tspec_json_bool(tspec_buf_t *buf, const char *key, bool value);
/// The comma before an item of a list, unless it is the first; then a new line with that indent.
void tspec_json_item(tspec_buf_t *buf, int indent);
/// [4, 8]
void tspec_json_dims(tspec_buf_t *buf, tspec_type_t type);
/// {"data": 2}
void tspec_json_mesh(tspec_buf_t *buf, const tspec_mesh_t *mesh);

#endif
