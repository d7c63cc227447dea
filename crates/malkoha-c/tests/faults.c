/* What a careless caller does: each must be a status with a text, and harm nothing. */
#include <malkoha.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(call, status)                                                                       \
    do {                                                                                           \
        int got = (call);                                                                          \
        if (got != (status)) {                                                                     \
            printf("line %d: %d instead of %d: %s\n", __LINE__, got, (int)(status),                \
                   malkoha_error());                                                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT_TEXT(part)                                                                          \
    do {                                                                                           \
        if (strstr(malkoha_error(), part) == NULL) {                                               \
            printf("line %d: not in the text: %s\n", __LINE__, malkoha_error());                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { KEYS = 2000, THREADS = 4 };

static malkoha_filter *built(bool growable, unsigned value_bits) {
    malkoha_filter *filter = NULL;
    malkoha_options *options = malkoha_options_new();
    malkoha_options_capacity(options, KEYS);
    malkoha_options_growable(options, growable);
    if (value_bits)
        malkoha_options_value_bits(options, value_bits);
    EXPECT(malkoha_new(options, &filter), MALKOHA_STATUS_OK);
    malkoha_options_free(options);
    return filter;
}

static void nulls(void) {
    malkoha_filter *filter = NULL, *set = built(false, 0);
    uint64_t hash = 1;
    bool found;
    EXPECT(malkoha_new(NULL, &filter), MALKOHA_STATUS_ARGUMENT);
    EXPECT_TEXT("options is null");
    EXPECT(malkoha_insert(NULL, "a", 1), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_insert(set, NULL, 1), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_insert(set, NULL, 0), MALKOHA_STATUS_OK);
    EXPECT(malkoha_contains(set, "", 0), 1);
    EXPECT(malkoha_contains_hashes(set, &hash, 1, NULL), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_contains_hashes(set, NULL, 0, NULL), MALKOHA_STATUS_OK);
    EXPECT(malkoha_contains_hashes(set, &hash, (size_t)-1, &found), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_open(NULL, &filter), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_save(set, NULL), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_count(set, "a", 1, NULL), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_tell(set, NULL), MALKOHA_STATUS_ARGUMENT);
    EXPECT(malkoha_union(set, NULL), MALKOHA_STATUS_ARGUMENT);
    malkoha_free(NULL);
    malkoha_options_free(NULL);
    malkoha_bytes_free(NULL, 7);
    malkoha_free(set);
}

static void impossible(void) {
    malkoha_filter *filter = NULL;
    malkoha_options *options = malkoha_options_new();
    EXPECT(malkoha_new(options, &filter), MALKOHA_STATUS_ARGUMENT);
    EXPECT_TEXT("no capacity");
    malkoha_options_capacity(options, 100);
    malkoha_options_false_positive_rate(options, 7.0);
    EXPECT(malkoha_new(options, &filter), MALKOHA_STATUS_ARGUMENT);
    malkoha_options_false_positive_rate(options, 0.001);
    EXPECT(malkoha_new(options, NULL), MALKOHA_STATUS_ARGUMENT);
    malkoha_options_capacity(options, (uint64_t)-1);
    EXPECT(malkoha_new(options, &filter), MALKOHA_STATUS_ARGUMENT);
    malkoha_options_free(options);
    if (filter != NULL)
        exit(1);
}

static void kinds(void) {
    malkoha_filter *set = built(false, 0), *map = built(false, 8), *grows = built(true, 0);
    uint64_t value = 0, hash = 1;
    size_t found = 9;
    bool refused = false;
    EXPECT(malkoha_put(set, "a", 1, 1), MALKOHA_STATUS_KIND);
    EXPECT_TEXT("malkoha_insert()");
    EXPECT(malkoha_insert(map, "a", 1), MALKOHA_STATUS_KIND);
    EXPECT_TEXT("malkoha_put()");
    EXPECT(malkoha_get(set, "a", 1, &value, 1, &found), MALKOHA_STATUS_KIND);
    EXPECT(malkoha_put(map, "a", 1, 256), MALKOHA_STATUS_FULL);
    EXPECT_TEXT("8 bits");
    value = 256;
    EXPECT(malkoha_put_hashes(map, &hash, &value, 1, &refused), MALKOHA_STATUS_FULL);
    EXPECT(refused, true);
    EXPECT(malkoha_put(map, "a", 1, 255), MALKOHA_STATUS_OK);
    EXPECT(malkoha_get(map, "a", 1, NULL, 0, &found), MALKOHA_STATUS_OK);
    EXPECT((int)found, 1);
    EXPECT(malkoha_replace(map, "a", 1, 255, 7), 1);
    EXPECT(malkoha_replace(map, "a", 1, 255, 7), 0);
    EXPECT(malkoha_take(map, "a", 1, 7), 1);
    EXPECT(malkoha_union(set, map), MALKOHA_STATUS_UNION);
    EXPECT(malkoha_union(set, grows), MALKOHA_STATUS_UNION);
    EXPECT(malkoha_insert(grows, "koel", 4), MALKOHA_STATUS_OK);
    EXPECT(malkoha_union(grows, grows), MALKOHA_STATUS_OK);
    EXPECT(malkoha_remove(grows, "koel", 4), 1);
    EXPECT(malkoha_contains(grows, "koel", 4), 0);
    malkoha_free(set);
    malkoha_free(map);
    malkoha_free(grows);
}

static void files(const char *path) {
    malkoha_filter *set = built(false, 0), *other = NULL;
    uint8_t *bytes;
    size_t length;
    EXPECT(malkoha_insert(set, "koel", 4), MALKOHA_STATUS_OK);
    EXPECT(malkoha_save(set, path), MALKOHA_STATUS_OK);
    EXPECT(malkoha_map(path, &other), MALKOHA_STATUS_OK);
    EXPECT(malkoha_contains(other, "koel", 4), 1);
    EXPECT(malkoha_insert(other, "koel", 4), MALKOHA_STATUS_KIND);
    EXPECT_TEXT("malkoha_open()");
    EXPECT(malkoha_clear(other), MALKOHA_STATUS_KIND);
    EXPECT(malkoha_union(set, other), MALKOHA_STATUS_OK);
    malkoha_free(other);
    EXPECT(malkoha_to_bytes(set, &bytes, &length), MALKOHA_STATUS_OK);
    EXPECT(malkoha_from_bytes(bytes, length, &other), MALKOHA_STATUS_OK);
    EXPECT(malkoha_contains(other, "koel", 4), 1);
    malkoha_free(other);
    other = NULL;
    EXPECT(malkoha_from_bytes(bytes, length - 1, &other), MALKOHA_STATUS_DAMAGED);
    bytes[length / 2] ^= 1;
    EXPECT(malkoha_from_bytes(bytes, length, &other), MALKOHA_STATUS_DAMAGED);
    EXPECT_TEXT("damaged");
    malkoha_bytes_free(bytes, length);
    EXPECT(malkoha_open("/no/such/file", &other), MALKOHA_STATUS_IO);
    EXPECT(malkoha_save(set, "/no/such/directory/file"), MALKOHA_STATUS_IO);
    if (other != NULL)
        exit(1);
    malkoha_free(set);
}

static void full(void) {
    malkoha_filter *set = built(false, 0);
    uint64_t keys[2 * KEYS], hashes[2 * KEYS];
    bool refused[2 * KEYS], found[2 * KEYS];
    for (uint64_t i = 0; i < 2 * KEYS; i++)
        keys[i] = i;
    EXPECT(malkoha_hash_integers(set, keys, 2 * KEYS, hashes), MALKOHA_STATUS_OK);
    EXPECT(malkoha_insert_hashes(set, hashes, 2 * KEYS, refused), MALKOHA_STATUS_FULL);
    EXPECT_TEXT("refused");
    EXPECT(malkoha_contains_hashes(set, hashes, 2 * KEYS, found), MALKOHA_STATUS_OK);
    for (int i = 0; i < 2 * KEYS; i++)
        if (!refused[i] && !found[i])
            exit(1);
    malkoha_free(set);
}

static void *insert_and_remove(void *argument) {
    malkoha_filter *set = argument;
    for (uint64_t i = 0; i < KEYS / THREADS; i++) {
        EXPECT(malkoha_insert_hash(set, i * 0x9e3779b97f4a7c15), MALKOHA_STATUS_OK);
        EXPECT(malkoha_remove_hash(set, i * 0x9e3779b97f4a7c15), 1);
    }
    EXPECT(malkoha_insert(NULL, "a", 1), MALKOHA_STATUS_ARGUMENT);
    EXPECT_TEXT("filter is null");
    return NULL;
}

/* Sets whose keys expire, of all four kinds, and what is none of them. */
static void expiring(const char *path) {
    malkoha_filter *plain = built(true, 0), *last = NULL;
    uint64_t age = 7;
    EXPECT(malkoha_advance(plain, 1), MALKOHA_STATUS_KIND);
    EXPECT_TEXT("malkoha_options_expire_after()");
    EXPECT(malkoha_age(plain, "a", 1, &age), MALKOHA_STATUS_KIND);
    EXPECT(malkoha_refresh(plain, "a", 1), MALKOHA_STATUS_KIND);
    for (int kind = 0; kind < 4; kind++) {
        malkoha_filter *set = NULL, *again = NULL;
        uint64_t hashes[2] = {0, 1};
        bool inserted[2];
        malkoha_info info;
        malkoha_options *options = malkoha_options_new();
        malkoha_options_capacity(options, KEYS);
        malkoha_options_growable(options, kind & 1);
        malkoha_options_shared(options, kind & 2);
        malkoha_options_resolution(options, 10);
        EXPECT(malkoha_new(options, &set), MALKOHA_STATUS_ARGUMENT);
        malkoha_options_expire_after(options, 100);
        EXPECT(malkoha_new(options, &set), MALKOHA_STATUS_OK);
        EXPECT(malkoha_insert(set, "a", 1), MALKOHA_STATUS_OK);
        EXPECT(malkoha_advance(set, 60), MALKOHA_STATUS_OK);
        EXPECT(malkoha_insert_unique(set, "a", 1), 0);
        EXPECT(malkoha_age(set, "a", 1, NULL), MALKOHA_STATUS_ARGUMENT);
        EXPECT(malkoha_age(set, "a", 1, &age), 1);
        EXPECT(age >= 60 && age < 70, true);
        EXPECT(malkoha_put(set, "a", 1, 1), MALKOHA_STATUS_KIND);
        EXPECT(malkoha_hash(set, "a", 1, &hashes[0]), MALKOHA_STATUS_OK);
        EXPECT(malkoha_refresh_hashes(set, hashes, 2, inserted), MALKOHA_STATUS_OK);
        EXPECT(inserted[0], false);
        EXPECT(inserted[1], true);
        EXPECT(malkoha_save(set, path), MALKOHA_STATUS_OK);
        EXPECT(malkoha_open(path, &again), MALKOHA_STATUS_OK);
        EXPECT(malkoha_advance(again, 171), MALKOHA_STATUS_OK);
        EXPECT(malkoha_contains(again, "a", 1), 0);
        EXPECT(malkoha_age(again, "a", 1, &age), 0);
        EXPECT(malkoha_refresh_hash(again, hashes[0]), 1);
        EXPECT(malkoha_tell(again, &info), MALKOHA_STATUS_OK);
        EXPECT(info.keys == 1 && info.ttl == 100 && info.resolution == 10 && info.now == 171, true);
        EXPECT(malkoha_union(set, again), kind & 2 ? MALKOHA_STATUS_UNION : MALKOHA_STATUS_OK);
        EXPECT(malkoha_union(set, plain), MALKOHA_STATUS_UNION);
        EXPECT(malkoha_clear(set), MALKOHA_STATUS_OK);
        malkoha_free(again);
        malkoha_free(set);
        malkoha_options_value_bits(options, 8);
        EXPECT(malkoha_new(options, &last), MALKOHA_STATUS_ARGUMENT);
        malkoha_options_free(options);
    }
    malkoha_free(plain);
}

/* A filter that is not shared, used by threads all the same. */
static void threads(void) {
    malkoha_filter *set = built(true, 0);
    pthread_t all[THREADS];
    malkoha_info info;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&all[i], NULL, insert_and_remove, set);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    EXPECT(malkoha_tell(set, &info), MALKOHA_STATUS_OK);
    EXPECT((int)info.keys, 0);
    malkoha_free(set);
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "faults.mlk";
    nulls();
    impossible();
    kinds();
    files(path);
    full();
    expiring(path);
    threads();
    puts("all as it should be");
    return 0;
}
