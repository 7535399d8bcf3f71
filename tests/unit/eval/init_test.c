// docs/numbers.md: check values from an independent model of the page in Python (Philox's own known
// answers come from its authors' test vectors), quantiles from its statistics module.
#include "ir/eval/init.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#include "ir/eval/tensors.h"

Test(init, paths_hash_by_fnv1a) {
  cr_assert(eq(u64, tspec_init_hash(""), UINT64_C(0xcbf29ce484222325)));
  cr_assert(eq(u64, tspec_init_hash("a"), UINT64_C(0xaf63dc4c8601ec8c)));
  cr_assert(eq(u64, tspec_init_hash("w"), UINT64_C(0xaf63ea4c86020456)));
}

Test(init, bits_are_philox_4x32_10) {
  cr_assert(eq(u64, tspec_init_bits(0, 0, 0), UINT64_C(0xe169c58d6627e8d5)));
  cr_assert(eq(u64, tspec_init_bits(0, 0, 1), UINT64_C(0x9b00dbd8bc57ac4c)));
  // key a4093822 299f31d0, counter 243f6a88 05a308d3 13198a2e 03707344
  uint64_t seed = UINT64_C(0x299f31d0a4093822);
  uint64_t hash = UINT64_C(0x0370734413198a2e);
  uint64_t index = UINT64_C(0x05a308d3243f6a88) << 1;
  cr_assert(eq(u64, tspec_init_bits(seed, hash, index), UINT64_C(0x572a2f272fe11a02)));
  cr_assert(eq(u64, tspec_init_bits(seed, hash, index + 1), UINT64_C(0x78d5e3252f88763b)));
}

static const struct {
  uint64_t seed;
  const char *path;
  uint64_t index;
  uint64_t bits;
  double u, z;
} known[] = {
    {0, "w", 0, 0x0b21c758fd587718, 0x1.6438eb1fab0f0p-5, -0x1.b62c26b28bb6ep+0},
    {42, "w", 0, 0x879a2855ed48eced, 0x1.0f3450abda91dp-1, 0x1.312ceab8dacd2p-4},
    {0, "w", 1, 0x96c490046e40f605, 0x1.2d892008dc81fp-1, 0x1.cc69a82b1cb24p-3},
    {42, "w", 1, 0xf3472f7b45cc38c5, 0x1.e68e5ef68b987p-1, 0x1.a5d760fed7a53p+0},
    {30064771073, "w", 2, 0x39fe4de6b250cb74, 0x1.cff26f3592864p-3, -0x1.80277e6becedep-1},
    {30064771073, "blocks/mlp/up/kernel", 12345678901, 0x43b94c4d2aa5246c, 0x1.0ee53134aa94ap-2,
     -0x1.423fb083f16fbp-1},
};

Test(init, elements_have_their_known_values) {
  static const double unit[2] = {0, 1};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint64_t hash = tspec_init_hash(known[i].path);
    cr_expect(eq(u64, tspec_init_bits(known[i].seed, hash, known[i].index), known[i].bits));
    cr_expect(eq(dbl,
                 tspec_init_element(TSPEC_INIT_UNIFORM, unit, known[i].seed, hash, known[i].index),
                 known[i].u));
    cr_expect(eq(dbl,
                 tspec_init_element(TSPEC_INIT_NORMAL, unit, known[i].seed, hash, known[i].index),
                 known[i].z));
  }
}

// From the tables: the quantiles of 0.975, 0.995 and 1e-10, and their mirror images.
Test(init, quantiles_are_the_normal_distributions) {
  static const double points[][2] = {{0.5, 0},
                                     {0.975, 1.959963984540054},
                                     {0.995, 2.5758293035489004},
                                     {1e-10, -6.361340902404056},
                                     {0.8413447460685429, 1},
                                     {1e-15, -7.941345326170997}};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    double z = tspec_init_normal_quantile(points[i][0]);
    cr_expect(fabs(z - points[i][1]) <= 4e-15 * fmax(1, fabs(points[i][1])), "%g: %.17g",
              points[i][0], z);
  }
}

Test(init, arguments_shift_and_scale) {
  static const double args[2] = {3, 0.5};
  uint64_t hash = tspec_init_hash("w");
  cr_assert(eq(dbl, tspec_init_element(TSPEC_INIT_FILL, args, 1, hash, 7), 3));
  cr_assert(eq(dbl, tspec_init_element(TSPEC_INIT_NORMAL, args, 42, hash, 1),
               3 + 0.5 * 0x1.a5d760fed7a53p+0));
  static const double range[2] = {-1, 3};
  cr_assert(eq(dbl, tspec_init_element(TSPEC_INIT_UNIFORM, range, 42, hash, 1),
               -1 + 4 * 0x1.e68e5ef68b987p-1));
}

// A truncated normal cut at 2 stddev has stddev .87962566 of the normal's.
Test(init, truncated_normals_have_their_moments) {
  static const double unit[2] = {0, 1};
  uint64_t hash = tspec_init_hash("w");
  double sum = 0, squares = 0, largest = 0;
  int count = 200000;
  for (int i = 0; i < count; i++) {
    double t = tspec_init_element(TSPEC_INIT_TRUNCATED_NORMAL, unit, 3, hash, (uint64_t)i);
    sum += t;
    squares += t * t;
    largest = fmax(largest, fabs(t));
  }
  cr_assert(fabs(sum / count) < 0.01);
  cr_assert(fabs(sqrt(squares / count) - 0.87962566) < 0.005);
  cr_assert(largest <= 2 && largest > 1.99);
}

Test(init, truncated_normals_are_cut_at_two) {
  static const double unit[2] = {0, 1};
  uint64_t hash = tspec_init_hash("w");
  // by the page: the quantile of 0.022750131948179207 + 0.9544997361036416 * 0x1.e68e5ef68b987p-1
  double t = tspec_init_element(TSPEC_INIT_TRUNCATED_NORMAL, unit, 42, hash, 1);
  double p =
      0.022750131948179207 + (0.9772498680518208 - 0.022750131948179207) * 0x1.e68e5ef68b987p-1;
  cr_assert(eq(dbl, t, tspec_init_normal_quantile(p)));
}

// From goldens/tensors.py.
Test(init, golden_tensors_have_their_known_values) {
  uint32_t hash = tspec_tensors_hash("blocks/mlp/up/kernel");
  cr_assert(eq(u32, hash, 0xa931b1cfu));
  cr_assert(eq(u32, tspec_tensors_raw(hash, 0), 0x9061ad45u));
  cr_assert(eq(u32, tspec_tensors_raw(hash, 5000000000), 0x40939650u));
  cr_assert(eq(flt, tspec_tensors_float(hash, 0, 0.5, 1.0), 0x1.1061ae0000000p+0f));
  cr_assert(eq(i64, tspec_tensors_int(hash, 0, 50), 3));
}
