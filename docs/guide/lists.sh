#!/bin/bash
# Makes docs/guide/lists.md: what to type for lists as people have them, and what is printed.
#     cargo build --release -p malkoha-cli && docs/guide/lists.sh > docs/guide/lists.md
# A test of the command runs the page again.
set -u
cd "$(mktemp -d)"
say() { printf '%s\n' "$@"; }
begin() { say '' '```'; }
end() { say '```'; }
run() {
    say "\$ $1"
    bash -c "$1" 2>&1
}
say '# Lists as people have them' '' \
    'Made by [lists.sh](lists.sh). Each section is one job: the files, the command, and what it prints.' \
    'LIST and INPUT are read alike. Whatever cannot be compared because of its form is counted on' \
    'stderr, with the place of the first such record. A list of nothing else is an error.' '' \
    '## Mailing lists' '' \
    'Mail everybody who has not unsubscribed. `-k` names the column of the input, `-K` that of the list:'
begin
run "printf 'name,email\nAnn,ann@x.example\nBob,Bob@x.example\n' > members.csv"
run "printf 'email,reason\nann@x.example,bounce\n' > gone.csv"
run "malkoha screen -v -i --csv -k email -f gone.csv members.csv"
run "malkoha screen -v -i --csv -k email -K email -f gone.csv members.csv"
end
say '' 'A list of addresses alone needs no `-K`. `diff`, `intersect` and `union` compare tables too:'
begin
run "malkoha intersect -i --csv -k email members.csv gone.csv"
end
say '' '## Hashes' '' \
    'Lists of leaked passwords have digests and counts. `--digest` compares the digest of each line of' \
    'the input. An index of the first field makes the next screening independent of the size of the list:'
begin
run "printf 'AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D:12\n' > pwned.txt"
run "printf 'hello\nlong and unknown\n' > words"
run "malkoha index -q --digest sha1 -k 1 -t : pwned.txt"
run "malkoha screen --digest sha1 -K 1 --list-delimiter : -f pwned.txt words"
end
say '' 'Suppression lists with the MD5 or SHA-256 of addresses in lower case need `-i --trim` too.' '' \
    '## Block lists' '' \
    'Names, URLs and the syntaxes of resolvers and blockers can be mixed, on both sides. A name stands' \
    'for itself and all below it, `*.name` only for those below it, and exceptions hold:'
begin
run "printf '0.0.0.0 ads.example\n||track.example^\n@@||good.track.example^\n' > block"
run "printf 'https://x.ads.example/a\ngood.track.example\nb.track.example:443\n' > visited"
run "malkoha screen --domain -f block visited"
end
say '' '`domains` merges lists of any syntax, without names that a parent covers and without what you allow:'
begin
run "printf 'local-zone: \"ads.example\" static\nx.ads.example CNAME .\nmine.example\n' > more"
run "echo mine.example | malkoha domains --allow - --format dnsmasq block more"
end
say '' '## Firewalls' '' \
    'Addresses, networks, ranges and the rules of firewalls are read alike. A line of no known' \
    'form or with two meanings (`10.0.0.1 10.0.0.9`), or a rule that only logs, is only counted:'
begin
run "printf '10.0.0.0-10.0.1.255\ndeny 192.0.2.0/24;\n-A INPUT -s 198.51.100.7 -j DROP\n' > drop"
run "printf '10.0.1.9 GET /\n192.0.2.8:443 GET /\n8.8.8.8 GET /\n' > access.log"
run "malkoha screen --cidr -k 1 -t blank -f drop access.log"
run "malkoha networks drop"
end
say '' '## Logs and streams' '' \
    '`new` prints what it has not seen in any run before. It saves its file every ten seconds, at the end,' \
    'and before a signal ends it. It prints a line before it saves it, so nothing is lost:'
begin
run "printf 'a\nb\na\n' | malkoha new -q seen.mlk"
run "printf 'b\nc\n' | malkoha new -q seen.mlk"
end
say '' '`tail -F log | malkoha new seen.mlk` can run for weeks. A second command that would change the file' \
    'tells which process holds it, or waits with `--wait`.' '' \
    '## Tables and documents' '' \
    'A record of CSV may have line breaks in quotes. With `-c`, CSV and JSON keep their form:'
begin
run "printf 'id,text\n1,\"two\nlines\"\n2,one\n1,again\n' > rows.csv"
run "malkoha uniq --csv -k id -c rows.csv"
run "printf '{\"text\":\"a\"}\n{\"id\":7}\n{\"text\":\"a\"}\n' > docs.jsonl"
run "malkoha uniq --json-field text docs.jsonl"
end
say '' '## Reads' '' 'FASTQ has records of four lines, and FASTA of any number. Their names are compared:'
begin
run "printf '@r1 lane 1\nACGT\n+\nIIII\n@r2\nAC\n+\nII\n' > reads.fq"
run "echo r2 | malkoha screen --fastq -f - reads.fq"
end
