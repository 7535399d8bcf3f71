#include "runtime/random.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// Expected values: the check values of docs/numbers.md.
TestSuite(random, .timeout = 30);

Test(random, philox_has_its_known_answers) {
  uint32_t zeros[4] = {0};
  uint32_t ones[4] = {~0u, ~0u, ~0u, ~0u};
  static const uint32_t want_zeros[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  static const uint32_t want_ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  tspec_rt_philox(zeros, 0, 0);
  tspec_rt_philox(ones, ~0u, ~0u);
  for (int i = 0; i < 4; ++i) {
    cr_assert(eq(u32, zeros[i], want_zeros[i]));
    cr_assert(eq(u32, ones[i], want_ones[i]));
  }
}

Test(random, hashes_paths) {
  cr_assert(eq(u64, tspec_rt_hash(""), 0xcbf29ce484222325u));
  cr_assert(eq(u64, tspec_rt_hash("w"), 0xaf63ea4c86020456u));
}

typedef struct known_t {
  uint64_t seed;
  const char *path;
  int64_t index;
  uint64_t bits;
  double uniform;
  double quantile;
} known_t;

Test(random, gives_the_numbers_of_the_page) {
  static const known_t known[] = {
      {0, "w", 0, 0x0b21c758fd587718, 0x1.6438eb1fab0fp-5, -0x1.b62c26b28bb6ep+0},
      {0, "w", 1, 0x96c490046e40f605, 0x1.2d892008dc81fp-1, 0x1.cc69a82b1cb24p-3},
      {42, "w", 1, 0xf3472f7b45cc38c5, 0x1.e68e5ef68b987p-1, 0x1.a5d760fed7a53p+0},
      {7 * 0x100000000u + 1, "blocks/mlp/up/kernel", 12345678901, 0x43b94c4d2aa5246c,
       0x1.0ee53134aa94ap-2, -0x1.423fb083f16fbp-1},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    uint64_t bits =
        tspec_rt_random_bits(known[i].seed, tspec_rt_hash(known[i].path), known[i].index);
    cr_assert(eq(u64, bits, known[i].bits));
    cr_assert(eq(dbl, tspec_rt_uniform(bits), known[i].uniform));
    cr_assert(eq(dbl, tspec_rt_normal_quantile(known[i].uniform), known[i].quantile));
  }
}

// A block is the same part of the whole, whatever the cut.
Test(random, gives_every_block_its_part_of_the_whole) {
  tspec_image_dim_t dims[] = {{.size = 5}, {.size = 7}};
  tspec_rt_tensor_t whole = {.dtype = TSPEC_RT_F32,
                             .layout = {.ndims = 2, .dims = dims},
                             .box = {2, {0, 0}, {5, 7}},
                             .elems = 35};
  tspec_rt_tensor_t part = whole;
  part.box = (tspec_rt_box_t){2, {1, 3}, {4, 6}};
  part.elems = 9;
  float all[35];
  float some[9];
  const double args[] = {1.0, 0.5};
  for (uint32_t init = TSPEC_IMAGE_INIT_FILL; init <= TSPEC_IMAGE_INIT_UNIFORM; ++init) {
    tspec_rt_init_block(&whole, init, args, 3, "w", all);
    tspec_rt_init_block(&part, init, args, 3, "w", some);
    for (int i = 0; i < 9; ++i) {
      cr_assert(eq(flt, some[i], all[(1 + i / 3) * 7 + 3 + i % 3]));
    }
  }
}

Test(random, cuts_truncated_normals_at_two) {
  enum { COUNT = 20000 };
  static double values[COUNT];
  tspec_image_dim_t dims[] = {{.size = COUNT}};
  tspec_rt_tensor_t tensor = {.dtype = TSPEC_RT_F64,
                              .layout = {.ndims = 1, .dims = dims},
                              .box = {1, {0}, {COUNT}},
                              .elems = COUNT};
  const double args[] = {0, 1};
  tspec_rt_init_block(&tensor, TSPEC_IMAGE_INIT_TRUNCATED_NORMAL, args, 1, "w", values);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < COUNT; ++i) {
    cr_assert(values[i] >= -2 && values[i] <= 2);
    sum += values[i];
    squares += values[i] * values[i];
  }
  // standard deviation of a normal cut at 2: 0.8796
  cr_assert(epsilon_eq(dbl, sum / COUNT, 0, 0.02));
  cr_assert(epsilon_eq(dbl, squares / COUNT, 0.7737, 0.02));
}
