/* malkoha: cuckoo filters. SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef MALKOHA_H
#define MALKOHA_H

/* Written by cbindgen from crates/malkoha-c/src: change it there. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The result of a function that fails: a negative number. malkoha_error() has the text. Where
// it succeeds it returns MALKOHA_STATUS_OK, or 1 for yes and 0 for no where it is a question.
enum malkoha_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Success.
    MALKOHA_STATUS_OK = 0,
    // An argument is null or impossible; the text says which.
    MALKOHA_STATUS_ARGUMENT = -1,
    // No room for a key, or a value has too many bits. The filter is unchanged.
    MALKOHA_STATUS_FULL = -2,
    // The file or the bytes are damaged, or no filter.
    MALKOHA_STATUS_DAMAGED = -3,
    // The system refused to read or write a file.
    MALKOHA_STATUS_IO = -4,
    // This kind of filter cannot do that: a set has no values, a mapped one cannot change.
    MALKOHA_STATUS_KIND = -5,
    // The two filters cannot be united.
    MALKOHA_STATUS_UNION = -6,
    // The system lacks the memory.
    MALKOHA_STATUS_MEMORY = -7,
    // A fault of this library. The filter concerned should not be used any more.
    MALKOHA_STATUS_BUG = -8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum malkoha_status malkoha_status;
#else
typedef int32_t malkoha_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A set or a map. Any thread may call any function with it, but for malkoha_free().
typedef struct malkoha_filter malkoha_filter;

// Filter options. Made by malkoha_options_new(), freed by malkoha_options_free(). Nothing is
// checked before malkoha_new().
typedef struct malkoha_options malkoha_options;

// Properties of a filter at one moment.
typedef struct {
    // Keys that are in, copies included.
    uint64_t keys;
    // Keys that it was built for; where it grows, that it has room for now.
    uint64_t capacity;
    // Bytes of its table.
    uint64_t bytes;
    // The present false-positive rate: the share of absent keys reported as present.
    double false_positive_rate;
    // Bits of a value, 0 in a set.
    uint32_t value_bits;
    // How long keys are remembered, in the caller's unit of time; 0 where they do not expire.
    uint64_t ttl;
    // The longest additional time for which a key can be found.
    uint64_t resolution;
    // The latest time that malkoha_advance() gave it.
    uint64_t now;
    // Whether it is a map.
    bool is_map;
    // Whether it is in a mapped file and cannot change.
    bool is_read_only;
} malkoha_info;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Hashes `count` keys: `keys[i]` points to `lengths[i]` bytes.
//
// `filter` is a filter of this library; `keys` points to `count` pointers to as many bytes as
// `lengths`, which has `count` too, says; `hashes` points to room for `count` numbers.
int32_t malkoha_hash_many(const malkoha_filter *filter,
                          const void *const *keys,
                          const size_t *lengths,
                          size_t count,
                          uint64_t *hashes);

// Hashes `count` keys that are 64-bit integers: as keys of 8 bytes, the lowest first.
//
// `filter` is a filter of this library; `keys` points to `count` integers, and `hashes` to room
// for as many numbers.
int32_t malkoha_hash_integers(const malkoha_filter *filter,
                              const uint64_t *keys,
                              size_t count,
                              uint64_t *hashes);

// Inserts `count` keys by their hashes, all that can be. Where some were refused,
// MALKOHA_STATUS_FULL is returned, all others are in, and `refused[i]`, unless `refused` is null,
// says which were.
//
// `filter` is a filter of this library; `hashes` points to `count` numbers; `refused` is null or
// points to room for `count` answers.
int32_t malkoha_insert_hashes(malkoha_filter *filter,
                              const uint64_t *hashes,
                              size_t count,
                              bool *refused);

// malkoha_insert_unique() for `count` hashes, in their order: `inserted[i]` says of each whether
// it was inserted. Where some were refused, MALKOHA_STATUS_FULL is returned.
//
// `filter` is a filter of this library; `hashes` points to `count` numbers, and `inserted` to room
// for as many answers.
int32_t malkoha_insert_unique_hashes(malkoha_filter *filter,
                                     const uint64_t *hashes,
                                     size_t count,
                                     bool *inserted);

// malkoha_contains() for `count` hashes: `found[i]` is the answer for each.
//
// `filter` is a filter of this library; `hashes` points to `count` numbers, and `found` to room
// for as many answers.
int32_t malkoha_contains_hashes(const malkoha_filter *filter,
                                const uint64_t *hashes,
                                size_t count,
                                bool *found);

// malkoha_remove() for `count` hashes, in their order: `removed[i]` says of each whether it was
// found.
//
// `filter` is a filter of this library; `hashes` points to `count` numbers, and `removed` to room
// for as many answers.
int32_t malkoha_remove_hashes(malkoha_filter *filter,
                              const uint64_t *hashes,
                              size_t count,
                              bool *removed);

// Lets it be the time `now`, in the unit of malkoha_options_expire_after(): what has expired is
// not in any more. A time before the present one changes nothing.
//
// `filter` is a filter of this library.
int32_t malkoha_advance(malkoha_filter *filter, uint64_t now);

// How long ago a key was seen; 1 if it is in, 0 if not, and `age` is then 0. It was seen that time
// ago at most, and less than one step of the resolution later.
//
// `filter` is a filter of this library, `key` points to `length` bytes, and `age` to room for a
// number.
int32_t malkoha_age(const malkoha_filter *filter, const void *key, size_t length, uint64_t *age);

// Inserts a key, or lets it be seen now if it is in; 1 if it was new, 0 if it was in. It lives
// from now on in either case; malkoha_insert_unique() leaves a key that is in as old as it is.
//
// `filter` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_refresh(malkoha_filter *filter, const void *key, size_t length);

// malkoha_refresh() for a hash.
//
// `filter` is a filter of this library.
int32_t malkoha_refresh_hash(malkoha_filter *filter, uint64_t hash);

// malkoha_refresh() for `count` hashes, in their order: `inserted[i]` says of each whether it was
// new. Where some were refused, MALKOHA_STATUS_FULL is returned.
//
// `filter` is a filter of this library; `hashes` points to `count` numbers, and `inserted` to room
// for as many answers.
int32_t malkoha_refresh_hashes(malkoha_filter *filter,
                               const uint64_t *hashes,
                               size_t count,
                               bool *inserted);

// Reads a file of any kind into memory, and checks every byte.
//
// `path` ends with a 0, and `filter` points to room for a pointer.
int32_t malkoha_open(const char *path, malkoha_filter **filter);

// Maps the file of a set or map of fixed size: it can be asked and not changed, and processes that
// map it have it in memory once. Nobody may write to the file meanwhile; replacing it by another,
// as malkoha_save() does, is no harm.
//
// `path` ends with a 0, `filter` points to room for a pointer, and nobody writes to the file or
// shortens it before malkoha_free().
int32_t malkoha_map(const char *path, malkoha_filter **filter);

// Saves a filter in the file at `path`, replacing an earlier file, whole or not at all.
//
// `filter` is a filter of this library, and `path` ends with a 0.
int32_t malkoha_save(const malkoha_filter *filter, const char *path);

// Reads the bytes of a file, and checks each.
//
// `bytes` points to `length` bytes, and `filter` to room for a pointer.
int32_t malkoha_from_bytes(const uint8_t *bytes, size_t length, malkoha_filter **filter);

// The bytes of the file that malkoha_save() would write, to be freed with malkoha_bytes_free().
//
// `filter` is a filter of this library; `bytes` points to room for a pointer, and `length` for a
// number.
int32_t malkoha_to_bytes(const malkoha_filter *filter, uint8_t **bytes, size_t *length);

// Frees what malkoha_to_bytes() made. Null is nothing.
//
// `bytes` and `length` are those of one call of malkoha_to_bytes(), and are not used again.
void malkoha_bytes_free(uint8_t *bytes, size_t length);

// Frees a filter; one in a mapped file leaves the file as it is. Null is nothing.
//
// `filter` comes from this library, is not used again, and no other thread is using it.
void malkoha_free(malkoha_filter *filter);

// Tells about a filter.
//
// `filter` is a filter of this library, and `info` points to room for a malkoha_info.
int32_t malkoha_tell(const malkoha_filter *filter, malkoha_info *info);

// Removes all keys.
//
// `filter` is a filter of this library.
int32_t malkoha_clear(malkoha_filter *filter);

// Inserts the keys of `other`: a union of sets, in which a key of both appears once. Both must be
// of one kind, either of fixed size or growable, and not shared, with one seed or key. `other` can
// be in a mapped file. If keys expire, the later time of the two then holds.
//
// Both are filters of this library.
int32_t malkoha_union(malkoha_filter *filter, const malkoha_filter *other);

// The hash of a key of `length` bytes, for the functions that end in _hash and _hashes: those of
// this filter, and of all others with its seed or key.
//
// `filter` is a filter of this library, `key` points to `length` bytes, and `hash` to room for a
// number.
int32_t malkoha_hash(const malkoha_filter *filter, const void *key, size_t length, uint64_t *hash);

// Inserts a key. A key that is in gets one copy more, which malkoha_count() counts and
// malkoha_remove() takes out again.
//
// `filter` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_insert(malkoha_filter *filter, const void *key, size_t length);

// malkoha_insert() for a hash.
//
// `filter` is a filter of this library.
int32_t malkoha_insert_hash(malkoha_filter *filter, uint64_t hash);

// Inserts a key unless it seems to be present; 1 if it was inserted, 0 if not. Of threads that
// insert one key at the same time, exactly one gets 1. Not for filters from which keys are
// removed: the present key can be another one.
//
// `filter` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_insert_unique(malkoha_filter *filter, const void *key, size_t length);

// malkoha_insert_unique() for a hash.
//
// `filter` is a filter of this library.
int32_t malkoha_insert_unique_hash(malkoha_filter *filter, uint64_t hash);

// 1 if a key seems to be in, a set or a map, and 0 if it is certainly not.
//
// `filter` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_contains(const malkoha_filter *filter, const void *key, size_t length);

// malkoha_contains() for a hash.
//
// `filter` is a filter of this library.
int32_t malkoha_contains_hash(const malkoha_filter *filter, uint64_t hash);

// The number of copies of a key: never too low, and of a key that is in rarely too high.
//
// `filter` is a filter of this library, `key` points to `length` bytes, and `copies` to room for a
// number.
int32_t malkoha_count(const malkoha_filter *filter,
                      const void *key,
                      size_t length,
                      uint64_t *copies);

// Removes one copy of a key that was inserted; 1 if it was found, 0 if not. Remove only what was
// inserted: a key that merely seems to be in takes another one with it.
//
// `filter` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_remove(malkoha_filter *filter, const void *key, size_t length);

// malkoha_remove() for a hash.
//
// `filter` is a filter of this library.
int32_t malkoha_remove_hash(malkoha_filter *filter, uint64_t hash);

// Options for a set of fixed size, with 1 in 1000 wrong answers. A capacity has to be said, or
// that it is to grow. To be freed with malkoha_options_free().
malkoha_options *malkoha_options_new(void);

// Frees options. Null is nothing.
//
// `options` comes from malkoha_options_new() and is not used again.
void malkoha_options_free(malkoha_options *options);

// The number of distinct keys to hold, 1 to 2^36; where it grows, to begin with.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_capacity(malkoha_options *options, uint64_t keys);

// The highest false-positive rate, above 0 and below 1.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_false_positive_rate(malkoha_options *options, double rate);

// Whether it grows as keys come. It needs no capacity then, unless it is shared too.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_growable(malkoha_options *options, bool growable);

// Whether threads use it at the same time without waiting for each other: lookups take no lock.
// All others can be used by any threads too, which then take turns.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_shared(malkoha_options *options, bool shared);

// Makes it a map, whose values have up to this many bits, 1 to 64.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_value_bits(malkoha_options *options, uint32_t bits);

// Makes it a set whose keys expire: they are remembered for `ttl`, in any unit of time, which
// malkoha_advance() counts on, and at most by one step of malkoha_options_resolution() longer.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_expire_after(malkoha_options *options, uint64_t ttl);

// How much longer than their time keys can be found, in its unit: by default a fifteenth of it.
// Finer steps take more bits per key.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_resolution(malkoha_options *options, uint64_t step);

// Hashes by XXH3 with this seed; by default 0. Only filters of one seed can be united.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_seed(malkoha_options *options, uint64_t seed);

// Hashes by SipHash-1-3 with this key of 16 bytes: for keys that strangers choose. Keep it secret.
//
// `options` comes from malkoha_options_new(); `key` points to 16 bytes.
int32_t malkoha_options_key(malkoha_options *options, const uint8_t *key);

// malkoha_options_key() with a key that the system chooses at random.
//
// `options` comes from malkoha_options_new().
int32_t malkoha_options_random_key(malkoha_options *options);

// Builds an empty filter as the options say. The options stay as they are.
//
// `options` comes from malkoha_options_new(), and `filter` points to room for a pointer.
int32_t malkoha_new(const malkoha_options *options, malkoha_filter **filter);

// Inserts a pair of key and value, in addition to the values that the key has.
//
// `map` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_put(malkoha_filter *map, const void *key, size_t length, uint64_t value);

// Candidates for the value of a key. Those of a key that is in are among them; a key that is not
// has the false-positive rate's number of them on average. Writes at most `room`; `found` says how
// many there are.
//
// `map` is a filter of this library; `key` points to `length` bytes, `values` to room for `room`
// numbers, and `found` for one.
int32_t malkoha_get(const malkoha_filter *map,
                    const void *key,
                    size_t length,
                    uint64_t *values,
                    size_t room,
                    size_t *found);

// Replaces one value of a key, with which it was put, by another; 1 if it was found, 0 if not.
//
// `map` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_replace(malkoha_filter *map,
                        const void *key,
                        size_t length,
                        uint64_t old_value,
                        uint64_t new_value);

// Removes one copy of a pair that was put; 1 if it was found, 0 if not.
//
// `map` is a filter of this library, and `key` points to `length` bytes.
int32_t malkoha_take(malkoha_filter *map, const void *key, size_t length, uint64_t value);

// malkoha_put() for `count` hashes and values. Where some were refused, MALKOHA_STATUS_FULL is
// returned, all others are in, and `refused[i]`, unless `refused` is null, says which were.
//
// `map` is a filter of this library; `hashes` and `values` point to `count` numbers each;
// `refused` is null or points to room for `count` answers.
int32_t malkoha_put_hashes(malkoha_filter *map,
                           const uint64_t *hashes,
                           const uint64_t *values,
                           size_t count,
                           bool *refused);

// For each of `count` hashes one of its candidates, in `values`, and how many it has, in `found`:
// with more than one, malkoha_get() tells all. Where it has none, its value is 0.
//
// `map` is a filter of this library; `hashes` points to `count` numbers, `values` and `found` to
// room for as many each.
int32_t malkoha_get_hashes(const malkoha_filter *map,
                           const uint64_t *hashes,
                           size_t count,
                           uint64_t *values,
                           size_t *found);

// The text of this thread's last error, and what to do about it. Valid until this thread's next
// error. Empty if there was none.
const char *malkoha_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MALKOHA_H */
