#include "runtime/layout.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(layout, .timeout = 30);

static const tspec_image_axis_t axes[] = {{.size = 2}, {.size = 4}};
static const tspec_rt_mesh_t mesh = {2, axes, 8};

Test(layout, cuts_a_dim_into_blocks_of_the_ceiling) {
  static const int64_t want[5][2] = {{0, 2}, {2, 4}, {4, 5}, {5, 5}, {5, 5}};
  for (int i = 0; i < 5; ++i) {
    int64_t begin = -1;
    int64_t end = -1;
    tspec_rt_block(5, i < 4 ? 4 : 5, i < 4 ? i : 4, &begin, &end);
    if (i < 4) {
      cr_assert(eq(i64, begin, want[i][0]));
      cr_assert(eq(i64, end, want[i][1]));
    } else {
      cr_assert(eq(i64, begin, 4));
      cr_assert(eq(i64, end, 5));
    }
  }
}

Test(layout, finds_coordinates_along_axes_and_pieces) {
  // rank 6 is data 1, model 2; model as (2)(2) is 1, 0
  tspec_image_piece_t data = {0, 1, 2};
  tspec_image_piece_t major = {1, 1, 2};
  tspec_image_piece_t minor = {1, 2, 2};
  tspec_image_piece_t both[] = {minor, data};
  cr_assert(eq(i64, tspec_rt_mesh_coordinate(&mesh, 6, 1), 2));
  cr_assert(eq(i64, tspec_rt_pieces_coordinate(&mesh, (tspec_rt_pieces_t){1, &major}, 6), 1));
  cr_assert(eq(i64, tspec_rt_pieces_coordinate(&mesh, (tspec_rt_pieces_t){1, &minor}, 6), 0));
  cr_assert(eq(i64, tspec_rt_pieces_coordinate(&mesh, (tspec_rt_pieces_t){2, both}, 6), 1));
  cr_assert(eq(i64, tspec_rt_pieces_move(&mesh, (tspec_rt_pieces_t){2, both}, 6, 2), 3));
  cr_assert(eq(i64, tspec_rt_pieces_move(&mesh, (tspec_rt_pieces_t){1, &minor}, 6, 1), 7));
}

static tspec_rt_box_t box2(int64_t a, int64_t b, int64_t c, int64_t d) {
  return (tspec_rt_box_t){.ndims = 2, .begin = {a, c}, .end = {b, d}};
}

Test(layout, merges_what_lies_together) {
  tspec_rt_box_t whole = box2(0, 6, 0, 10);
  tspec_rt_box_t rows = box2(2, 4, 0, 10);
  tspec_rt_box_t columns = box2(0, 6, 2, 5);
  tspec_rt_copy_t run = tspec_rt_copy_plan(&whole, &rows, &rows, 4);
  cr_assert(tspec_rt_copy_is_run(&run));
  cr_assert(eq(i64, run.run_bytes, 80));
  cr_assert(eq(i64, run.from_offset, 80));
  cr_assert(eq(i64, run.to_offset, 0));
  tspec_rt_copy_t strided = tspec_rt_copy_plan(&whole, &columns, &columns, 4);
  cr_assert(eq(int, strided.ndims, 1));
  cr_assert(eq(i64, strided.run_bytes, 12));
  cr_assert(eq(i64, strided.from_stride[0], 40));
  cr_assert(eq(i64, strided.to_stride[0], 12));
}

Test(layout, copies_nothing_of_an_empty_box) {
  tspec_rt_box_t whole = box2(0, 6, 0, 10);
  tspec_rt_box_t none = box2(6, 6, 0, 10);
  tspec_rt_copy_t copy = tspec_rt_copy_plan(&whole, &none, &none, 4);
  tspec_rt_copy_execute(&copy, NULL, NULL);
  cr_assert(eq(i64, copy.run_bytes, 0));
}

// Every element of a box by its coordinates, for boxes of up to four dims.
Test(layout, copies_each_element_to_its_place) {
  tspec_rt_box_t from = {.ndims = 4, .begin = {1, 0, 2, 3}, .end = {4, 3, 7, 8}};
  tspec_rt_box_t to = {.ndims = 4, .begin = {0, 1, 3, 0}, .end = {3, 3, 9, 6}};
  tspec_rt_box_t part = tspec_rt_box_intersect(&from, &to);
  static int16_t source[3 * 3 * 5 * 5];
  static int16_t target[3 * 2 * 6 * 6];
  for (int i = 0; i < 3 * 3 * 5 * 5; ++i) {
    source[i] = (int16_t)(i + 1);
  }
  tspec_rt_copy_t copy = tspec_rt_copy_plan(&from, &to, &part, 2);
  tspec_rt_copy_execute(&copy, source, target);
  int found = 0;
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 1; b < 3; ++b) {
      for (int64_t c = 3; c < 9; ++c) {
        for (int64_t d = 0; d < 6; ++d) {
          bool inside = a >= 1 && c < 7 && d >= 3;
          int64_t at = (((a - 1) * 3 + b) * 5 + (c - 2)) * 5 + (d - 3);
          int16_t want = inside ? source[at] : 0;
          cr_assert(eq(i16, target[((a * 2 + b - 1) * 6 + (c - 3)) * 6 + d], want));
          found += inside;
        }
      }
    }
  }
  cr_assert(eq(int, found, (int)tspec_rt_box_elems(&part)));
}
