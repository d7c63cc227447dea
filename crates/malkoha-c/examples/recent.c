/* What was seen within the last hour: a set whose keys expire, in seconds. */
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
    const char *path = argc > 1 ? argv[1] : "recent.mlk";
    const struct {
        uint64_t second;
        const char *bird;
    } log[] = {{0, "koel"}, {1200, "malkoha"}, {3600, "koel"}, {5000, "malkoha"}, {6000, "koel"}};
    malkoha_options *options = malkoha_options_new();
    malkoha_filter *recent, *again;

    check(malkoha_options_growable(options, true));
    check(malkoha_options_capacity(options, 1000));
    check(malkoha_options_expire_after(options, 3600));
    check(malkoha_options_resolution(options, 60));
    check(malkoha_new(options, &recent));
    malkoha_options_free(options);

    for (size_t i = 0; i < sizeof log / sizeof *log; i++) {
        const char *bird = log[i].bird;
        check(malkoha_advance(recent, log[i].second));
        int is_new = malkoha_refresh(recent, bird, strlen(bird));
        check(is_new);
        printf("%llu s, %s: %s\n", (unsigned long long)log[i].second, bird,
               is_new ? "new" : "seen");
    }

    check(malkoha_save(recent, path));
    check(malkoha_open(path, &again));
    malkoha_info info;
    uint64_t age;
    check(malkoha_advance(again, 6600));
    check(malkoha_tell(again, &info));
    check(malkoha_age(again, "koel", 4, &age));
    printf("%llu within %llu s, koel %llu to %llu s ago\n", (unsigned long long)info.keys,
           (unsigned long long)info.ttl, (unsigned long long)(age - info.resolution + 1),
           (unsigned long long)age);

    malkoha_free(again);
    malkoha_free(recent);
    return 0;
}
