/* The smallest peer, for the test of the interface: one bit for each key. */
#include <stdlib.h>

#include "peer.h"

struct bitmap {
  uint64_t bits, words[];
};

static uint64_t bit_of(const struct bitmap *map, uint64_t key) {
  return (key * 0x9e3779b97f4a7c15) % map->bits;
}

const char *peer_name(void) { return "bitmap"; }

void *peer_new(uint64_t keys) {
  uint64_t words = keys;
  struct bitmap *map = calloc(1, sizeof *map + words * sizeof(uint64_t));
  if (map) map->bits = words * 64;
  return map;
}

void peer_free(void *filter) { free(filter); }

uint64_t peer_bytes(const void *filter) { return ((const struct bitmap *)filter)->bits / 8; }

uint64_t peer_insert(void *filter, const uint64_t *keys, uint64_t count, uint64_t *refused) {
  struct bitmap *map = filter;
  (void)refused;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bit = bit_of(map, keys[i]);
    map->words[bit / 64] |= (uint64_t)1 << bit % 64;
  }
  return 0;
}

uint64_t peer_find(const void *filter, const uint64_t *keys, uint64_t count) {
  const struct bitmap *map = filter;
  uint64_t found = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bit = bit_of(map, keys[i]);
    found += map->words[bit / 64] >> bit % 64 & 1;
  }
  return found;
}
