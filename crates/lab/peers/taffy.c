/* Taffy's cuckoo filter (github.com/jbapple/libfilter, its C code) as a peer that grows:
 *
 *   git clone https://github.com/jbapple/libfilter
 *   gcc -O3 -fPIC -shared -I libfilter/c/include -o taffy.so crates/lab/peers/taffy.c \
 *       libfilter/c/lib/taffy-cuckoo.c libfilter/c/lib/memory.c libfilter/c/lib/util.c -lm
 *
 * Its rate is 0.1 % at any size, and its table takes powers of two. It takes hashes: keys are
 * mixed as splitmix64 mixes them. */
#include <filter/taffy-cuckoo.h>

#include "peer.h"

/* Bytes of a slot, and the load at which the table doubles. */
#define SLOT 2
#define FULL 0.9

static uint64_t hash(uint64_t key) {
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
  key = (key ^ key >> 27) * 0x94d049bb133111eb;
  return key ^ key >> 31;
}

const char *peer_name(void) { return "taffy cuckoo"; }

void *peer_new(uint64_t keys) {
  libfilter_taffy_cuckoo *filter = malloc(sizeof *filter);
  if (filter) libfilter_taffy_cuckoo_init(keys / FULL * SLOT, filter);
  return filter;
}

void peer_free(void *filter) {
  libfilter_taffy_cuckoo_destruct(filter);
  free(filter);
}

uint64_t peer_bytes(const void *filter) { return libfilter_taffy_cuckoo_size_in_bytes(filter); }

uint64_t peer_insert(void *filter, const uint64_t *keys, uint64_t count, uint64_t *refused) {
  uint64_t number = 0;
  for (uint64_t i = 0; i < count; i++)
    if (!libfilter_taffy_cuckoo_add_hash(filter, hash(keys[i]))) refused[number++] = keys[i];
  return number;
}

uint64_t peer_find(const void *filter, const uint64_t *keys, uint64_t count) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < count; i++)
    found += libfilter_taffy_cuckoo_find_hash(filter, hash(keys[i]));
  return found;
}
