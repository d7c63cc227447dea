/* A set that is saved, opened again, and tells what is new. */
#include <malkoha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status) {
    if (status < 0) {
        fprintf(stderr, "malkoha: %s\n", malkoha_error());
        exit(1);
    }
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "seen.mlk";
    malkoha_options *options = malkoha_options_new();
    malkoha_filter *seen, *again;

    check(malkoha_options_growable(options, true));
    check(malkoha_options_false_positive_rate(options, 0.001));
    check(malkoha_new(options, &seen));
    malkoha_options_free(options);

    const char *birds[] = {"koel", "malkoha", "koel", "hoatzin"};
    for (size_t i = 0; i < 4; i++) {
        int is_new = malkoha_insert_unique(seen, birds[i], strlen(birds[i]));
        check(is_new);
        printf("%s: %s\n", birds[i], is_new ? "new" : "seen");
    }

    check(malkoha_save(seen, path));
    check(malkoha_open(path, &again));
    malkoha_info info;
    check(malkoha_tell(again, &info));
    printf("%llu keys in the file\n", (unsigned long long)info.keys);
    printf("koel: %d, cuckoo: %d\n", malkoha_contains(again, "koel", 4),
           malkoha_contains(again, "cuckoo", 6));

    malkoha_free(again);
    malkoha_free(seen);
    return 0;
}
