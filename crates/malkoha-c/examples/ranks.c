/* A map from a million integers to their ranks, asked in one batch. */
#include <malkoha.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000000 };

static void check(int status) {
    if (status < 0) {
        fprintf(stderr, "malkoha: %s\n", malkoha_error());
        exit(1);
    }
}

int main(void) {
    uint64_t *keys = malloc(COUNT * sizeof *keys), *hashes = malloc(COUNT * sizeof *hashes);
    uint64_t *ranks = malloc(COUNT * sizeof *ranks), *values = malloc(COUNT * sizeof *values);
    size_t *found = malloc(COUNT * sizeof *found);
    malkoha_options *options = malkoha_options_new();
    malkoha_filter *map;

    check(malkoha_options_capacity(options, COUNT));
    check(malkoha_options_value_bits(options, 20));
    check(malkoha_new(options, &map));
    malkoha_options_free(options);

    for (uint64_t i = 0; i < COUNT; i++) {
        keys[i] = i * i;
        ranks[i] = i;
    }
    check(malkoha_hash_integers(map, keys, COUNT, hashes));
    check(malkoha_put_hashes(map, hashes, ranks, COUNT, NULL));
    check(malkoha_get_hashes(map, hashes, COUNT, values, found));

    size_t lost = 0, alone = 0, right = 0;
    for (size_t i = 0; i < COUNT; i++) {
        lost += found[i] == 0;
        alone += found[i] == 1;
        right += found[i] == 1 && values[i] == ranks[i];
    }
    malkoha_info info;
    check(malkoha_tell(map, &info));
    printf("%zu lost; %s of those with one candidate right\n", lost,
           right == alone ? "all" : "not all");
    printf("%d bits a key\n", (int)(info.bytes * 8 / COUNT));

    malkoha_free(map);
    free(keys), free(hashes), free(ranks), free(values), free(found);
    return 0;
}
