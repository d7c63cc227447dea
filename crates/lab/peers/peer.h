/* A filter that `lab bench --peer ./FILE.so` measures beside ours. Each function takes `count` keys
 * and loops over them itself, so that the filter's own code is inlined into its loop as in ours.
 * A program without peer_find_many or peer_remove leaves them out. */
#ifndef MALKOHA_PEER_H
#define MALKOHA_PEER_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Its name in the tables, in UTF-8. */
const char *peer_name(void);
/* An empty filter for so many keys, or one that grows, for so many first ones (`lab grow`); NULL if
 * there is no memory for it. */
void *peer_new(uint64_t keys);
void peer_free(void *filter);
/* Bytes of its table. */
uint64_t peer_bytes(const void *filter);
/* Inserts the keys one by one. Writes those that it refuses to `refused`, which has room for all;
 * returns how many those are. */
uint64_t peer_insert(void *filter, const uint64_t *keys, uint64_t count, uint64_t *refused);
/* Looks the keys up in a plain loop; returns how many are in. */
uint64_t peer_find(const void *filter, const uint64_t *keys, uint64_t count);
/* Optional: the same by the filter's own batch method. */
uint64_t peer_find_many(const void *filter, const uint64_t *keys, uint64_t count);
/* Optional: removes the keys one by one; returns how many were in. */
uint64_t peer_remove(void *filter, const uint64_t *keys, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
