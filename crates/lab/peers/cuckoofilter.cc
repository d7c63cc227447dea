// The code of the paper's authors (github.com/efficient/cuckoofilter, branch master) as a peer:
//
//   git clone https://github.com/efficient/cuckoofilter
//   g++ -O3 -march=native -fPIC -shared -I cuckoofilter/src -o cuckoofilter.so \
//       crates/lab/peers/cuckoofilter.cc cuckoofilter/src/hashutil.cc
//
// -DBITS=8 or 16 for other fingerprints; its tables are powers of two.
#include <cuckoofilter.h>

#include "peer.h"

#ifndef BITS
#define BITS 12
#endif
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#ifdef __AVX2__
#define HOW ", native"
#else
#define HOW ""
#endif

typedef cuckoofilter::CuckooFilter<uint64_t, BITS> Filter;

const char *peer_name(void) { return "paper's code:" TEXT(BITS) HOW; }

void *peer_new(uint64_t keys) { return new Filter(keys); }

void peer_free(void *filter) { delete static_cast<Filter *>(filter); }

uint64_t peer_bytes(const void *filter) {
  return static_cast<const Filter *>(filter)->SizeInBytes();
}

uint64_t peer_insert(void *filter, const uint64_t *keys, uint64_t count, uint64_t *refused) {
  Filter &table = *static_cast<Filter *>(filter);
  uint64_t number = 0;
  for (uint64_t i = 0; i < count; i++)
    if (table.Add(keys[i]) != cuckoofilter::Ok) refused[number++] = keys[i];
  return number;
}

uint64_t peer_find(const void *filter, const uint64_t *keys, uint64_t count) {
  const Filter &table = *static_cast<const Filter *>(filter);
  uint64_t found = 0;
  for (uint64_t i = 0; i < count; i++) found += table.Contain(keys[i]) == cuckoofilter::Ok;
  return found;
}

uint64_t peer_remove(void *filter, const uint64_t *keys, uint64_t count) {
  Filter &table = *static_cast<Filter *>(filter);
  uint64_t found = 0;
  for (uint64_t i = 0; i < count; i++) found += table.Delete(keys[i]) == cuckoofilter::Ok;
  return found;
}
