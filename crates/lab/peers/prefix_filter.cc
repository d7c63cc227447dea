// The prefix filter with its two-choice spare (github.com/TomerEven/Prefix-Filter) as a peer. It
// needs AVX-512, and removes nothing:
//
//   git clone https://github.com/TomerEven/Prefix-Filter
//   g++ -std=c++17 -O3 -march=native -w -fPIC -shared -include bits/stdc++.h -I Prefix-Filter \
//       -o prefix_filter.so \
//       crates/lab/peers/prefix_filter.cc Prefix-Filter/Prefix-Filter/*.cpp \
//       Prefix-Filter/TC-Shortcut/*.cpp
#include <Tests/wrappers.hpp>

#include "peer.h"

typedef Prefix_Filter<TC_shortcut> Filter;
typedef FilterAPI<Filter> Api;

const char *peer_name(void) { return "prefix filter, native"; }

void *peer_new(uint64_t keys) { return new Filter(Api::ConstructFromAddCount(keys)); }

void peer_free(void *filter) { delete static_cast<Filter *>(filter); }

uint64_t peer_bytes(const void *filter) {
  return static_cast<const Filter *>(filter)->get_byte_size();
}

uint64_t peer_insert(void *filter, const uint64_t *keys, uint64_t count, uint64_t *) {
  Filter *table = static_cast<Filter *>(filter);
  for (uint64_t i = 0; i < count; i++) Api::Add(keys[i], table);
  return 0;
}

uint64_t peer_find(const void *filter, const uint64_t *keys, uint64_t count) {
  const Filter *table = static_cast<const Filter *>(filter);
  uint64_t found = 0;
  for (uint64_t i = 0; i < count; i++) found += Api::Contain(keys[i], table);
  return found;
}
