#include "ir/shard/mesh.h"

#include "ir/shard/axes.h"
#include "setting.h"

static const tspec_mesh_axis_t kAxes[] = {
    {"data", 2, 0}, {"model", 12, 0}, {"one", 1, 0}, {NULL, 0, 0}};

static tspec_axis_t model(int64_t pre, int64_t size) {
  return (tspec_axis_t){.axis = 1, .pre = pre, .size = size};
}

Test(mesh, ranks_are_row_major) {
  setting_t s;
  setting_open(&s, kAxes);
  cr_assert(eq(i64, tspec_mesh_nranks(&s.mesh), 24));
  cr_assert(eq(i64, tspec_mesh_coordinate(&s.mesh, 17, 0), 1));
  cr_assert(eq(i64, tspec_mesh_coordinate(&s.mesh, 17, 1), 5));
  cr_assert(eq(i64, tspec_mesh_coordinate(&s.mesh, 17, 2), 0));
  cr_assert(eq(int, tspec_mesh_find(&s.mesh, "model"), 1));
  cr_assert(eq(int, tspec_mesh_find(&s.mesh, "mod"), -1));
  cr_assert(eq(str, (char *)tspec_mesh_print(&s.arena, &s.mesh), "data=2, model=12, one=1"));
  setting_close(&s);
}

Test(mesh, no_axes_is_one_rank) {
  tspec_mesh_t mesh = {0};
  cr_assert(eq(i64, tspec_mesh_nranks(&mesh), 1));
}

Test(mesh, a_piece_is_the_middle_of_its_axis) {
  setting_t s;
  setting_open(&s, kAxes);
  // 12 seen as (2, 3, 2): coordinate 7 is (1, 0, 1).
  cr_assert(eq(i64, tspec_axis_coordinate(&s.mesh, 7, model(1, 2)), 1));
  cr_assert(eq(i64, tspec_axis_coordinate(&s.mesh, 7, model(2, 3)), 0));
  cr_assert(eq(i64, tspec_axis_coordinate(&s.mesh, 7, model(6, 2)), 1));
  setting_close(&s);
}

Test(mesh, pieces_that_follow_each_other_merge) {
  tspec_axis_t merged;
  cr_assert(tspec_axis_merge(model(1, 2), model(2, 3), &merged));
  cr_assert(tspec_axis_equal(merged, model(1, 6)));
  cr_assert(not(tspec_axis_merge(model(2, 3), model(1, 2), &merged)));
  cr_assert(not(tspec_axis_merge(model(1, 2), model(4, 3), &merged)));
  tspec_axis_t one = {.axis = 2, .pre = 1, .size = 1};
  cr_assert(not(tspec_axis_merge(one, one, &merged)));
}

Test(mesh, an_axis_of_size_one_overlaps_itself) {
  tspec_axis_t one = {.axis = 2, .pre = 1, .size = 1};
  cr_assert(tspec_axis_overlap(one, one));
  cr_assert(not(tspec_axis_overlap(one, model(1, 12))));
}

// Cuts of 12 at 1, 2, 4, 12 are one refinement; at 2 and 3 they are not.
Test(mesh, pieces_coexist_if_their_cuts_divide_each_other) {
  cr_assert(tspec_axis_can_coexist(model(1, 2), model(4, 3)));
  cr_assert(tspec_axis_can_coexist(model(1, 4), model(2, 6)));
  cr_assert(not(tspec_axis_can_coexist(model(1, 2), model(3, 4))));
  cr_assert(not(tspec_axis_can_coexist(model(1, 4), model(1, 6))));
}

Test(mesh, the_prefix_without_another_piece_stops_where_that_begins) {
  tspec_axis_t prefix;
  cr_assert(tspec_axis_prefix_without(model(1, 12), model(4, 3), &prefix));
  cr_assert(tspec_axis_equal(prefix, model(1, 4)));
  cr_assert(tspec_axis_prefix_without(model(1, 2), model(4, 3), &prefix));
  cr_assert(tspec_axis_equal(prefix, model(1, 2)));
  cr_assert(not(tspec_axis_prefix_without(model(2, 2), model(1, 4), &prefix)));
  cr_assert(not(tspec_axis_prefix_without(model(1, 2), model(3, 4), &prefix)));
}

Test(mesh, major_and_minor_part_make_the_whole) {
  tspec_axis_t whole = model(1, 12);
  for (int64_t size = 2; size < 12; size++) {
    if (12 % size != 0) {
      continue;
    }
    tspec_axis_t merged;
    tspec_axis_t major = tspec_axis_major(whole, size);
    tspec_axis_t minor = tspec_axis_minor(whole, 12 / size);
    cr_assert(tspec_axis_merge(major, minor, &merged));
    cr_assert(tspec_axis_equal(merged, whole));
  }
}

// Laws over random pieces: the algebra that everything else rests on.
Test(mesh, laws_of_pieces_hold) {
  setting_t s;
  setting_open(&s, kAxes);
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 5000; i++) {
    tspec_axis_t a = random_piece(&s.mesh, &state);
    tspec_axis_t b = random_piece(&s.mesh, &state);
    cr_assert(eq(int, tspec_axis_overlap(a, b), tspec_axis_overlap(b, a)));
    cr_assert(eq(int, tspec_axis_can_coexist(a, b), tspec_axis_can_coexist(b, a)));
    cr_assert(tspec_axis_contains(a, a));
    if (tspec_axis_contains(a, b) && tspec_axis_contains(b, a)) {
      cr_assert(tspec_axis_equal(a, b));
    }
    tspec_axis_t rest;
    if (tspec_axis_prefix_without(a, b, &rest)) {
      cr_assert(tspec_axis_is_prefix(rest, a));
      cr_assert(not(tspec_axis_overlap(rest, b)));
    } else {
      cr_assert(tspec_axis_overlap(a, b) || !tspec_axis_can_coexist(a, b));
    }
  }
  setting_close(&s);
}

Test(mesh, sorting_merges_neighbours_in_mesh_order) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_axis_t axes[] = {model(2, 3), {.axis = 0, .pre = 1, .size = 2}, model(1, 2), model(6, 2)};
  int count = tspec_axes_sort(axes, 4);
  cr_assert(eq(str, (char *)tspec_axes_print(&s.arena, &s.mesh, axes, count), "data*model"));
  setting_close(&s);
}

Test(mesh, a_list_is_a_prefix_up_to_a_part_of_its_last_piece) {
  tspec_axis_t data = {.axis = 0, .pre = 1, .size = 2};
  tspec_axis_t whole[] = {model(1, 4), data};
  tspec_axis_t part[] = {model(1, 2)};
  tspec_axis_t broken[] = {model(1, 2), data};
  cr_assert(tspec_axes_is_strict_prefix(part, 1, whole, 2));
  cr_assert(tspec_axes_is_strict_prefix(whole, 1, whole, 2));
  cr_assert(tspec_axes_is_strict_prefix(NULL, 0, whole, 2));
  cr_assert(not(tspec_axes_is_prefix(broken, 2, whole, 2)));
  cr_assert(not(tspec_axes_is_strict_prefix(whole, 2, whole, 2)));
  cr_assert(not(tspec_axes_is_prefix(whole, 2, part, 1)));
}

// No set of pieces that do not overlap is larger: 12 = 2 * 2 * 3, 2, and 1.
Test(mesh, the_bound_on_pieces_holds_all_cuts) {
  setting_t s;
  setting_open(&s, kAxes);
  cr_assert(ge(int, tspec_mesh_max_pieces(&s.mesh), 5));
  setting_close(&s);
}

Test(mesh, fits_up_to_the_ranks_that_mpi_counts) {
  tspec_mesh_axis_t axes[] = {{"x", 65536, 0}, {"y", 32767, 0}};
  tspec_mesh_t mesh = {2, axes};
  cr_assert(tspec_mesh_fits(&mesh)); // 65536 * 32767 < 2^31
  axes[1].size = 32768;
  cr_assert(not(tspec_mesh_fits(&mesh)));
  axes[0].size = INT64_MAX;
  cr_assert(not(tspec_mesh_fits(&mesh)));
  axes[0].size = -1; // not known yet
  cr_assert(tspec_mesh_fits(&mesh));
}
