/* A log of some days, and an exact check of what `malkoha uniq --within 24h` makes of it.
 *
 *     within generate LINES DAYS            the log: seconds since 1970, a tab, and a key
 *     within check LINES DAYS OUTPUT        the log again, beside the lines that were printed
 *
 * Of 10 lines 5 have one of 20,000 keys, 3 one of 3 million, and 2 a key that never comes again.
 * The check keeps the time of each key's last printing in an array, without any hash. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOT = 20000, WARM = 3000000, START = 1790000000, TTL = 86400, STEP = TTL / 15 };

static uint64_t state = 1;

/* SplitMix64. */
static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static uint64_t once = HOT + WARM;

static uint64_t key(void) {
    uint64_t random = next(), kind = random % 10;
    if (kind < 5) return (random >> 8) % HOT;
    if (kind < 8) return HOT + (random >> 8) % WARM;
    return once++;
}

int main(int count, char **arguments) {
    if (count < 4) return fprintf(stderr, "within generate|check LINES DAYS [OUTPUT]\n"), 2;
    uint64_t lines = strtoull(arguments[2], NULL, 10), days = strtoull(arguments[3], NULL, 10);
    if (!strcmp(arguments[1], "generate")) {
        for (uint64_t i = 0; i < lines; i++)
            printf("%" PRIu64 "\tkey-%" PRIu64 "\n", START + i * days * TTL / lines, key());
        return fflush(stdout) != 0;
    }
    FILE *output = count > 4 ? fopen(arguments[4], "r") : NULL;
    uint32_t *last = calloc(HOT + WARM + lines, sizeof *last);
    if (!output || !last) return perror("within"), 2;
    uint64_t at = 0, printed_key = 0, printed = 0, early = 0, late = 0, between = 0, exact = 0;
    int more = fscanf(output, "%" SCNu64 "\tkey-%" SCNu64, &at, &printed_key) == 2;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t time = START + i * days * TTL / lines, k = key();
        /* Since the last printing; the first line of a key is new. */
        uint64_t age = last[k] ? time - last[k] : UINT64_MAX;
        int is_printed = more && at == time && printed_key == k;
        if (is_printed) {
            early += age < TTL;
            last[k] = time;
            printed++;
            more = fscanf(output, "%" SCNu64 "\tkey-%" SCNu64, &at, &printed_key) == 2;
        } else if (age >= TTL + STEP) {
            late++;
        }
        between += age >= TTL && age < TTL + STEP;
        exact += is_printed == (age >= TTL);
    }
    printf("lines                                        %" PRIu64 "\n", lines);
    printf("printed                                      %" PRIu64 "\n", printed);
    printf("printed again within 24 h (never)            %" PRIu64 "\n", early);
    printf("not printed after 25 h 36 min (the rate)     %" PRIu64 "\n", late);
    printf("came between 24 h and 25 h 36 min (either)   %" PRIu64 "\n", between);
    printf("as an exact window of 24 h has it            %" PRIu64 "\n", exact);
    printf("printed lines that are not in the log        %d\n", more);
    return early > 0 || more;
}
