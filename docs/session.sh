#!/usr/bin/env bash
# Makes docs/SESSION.md: the commonest jobs as a newcomer types them, with what the command prints.
#     cargo build --release -p malkoha-cli && docs/session.sh > docs/SESSION.md
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "${MALKOHA:-$root/target/release/malkoha}" "$folder/bin/malkoha"
export PATH="$folder/bin:$PATH"
cd "$folder"
ln -s "$root/examples" examples

# Prints a command and all that it says, and its exit code where it is not 0.
type_in() {
    printf '$ %s\n' "$1"
    local code=0
    bash -c "$1" 2>&1 || code=$?
    [ "$code" = 0 ] || printf '(exit code %s)\n' "$code"
}

commands() {
    printf '\n```\n'
    for command in "$@"; do type_in "$command"; done
    printf '```\n'
}

section() {
    printf '\n## %s\n' "$1"
    shift
    commands "$@"
}

cat <<'HEAD'
# Five jobs, as they look in a terminal

Made by [session.sh](session.sh), which runs these commands in a clone, with `malkoha` on the
`PATH` ([how to install it](COMMAND.md)). The lists are [examples](../examples/README.md). The other
files are a few lines each:
HEAD

commands 'cp examples/disposable-email-domains.txt disposable.txt' \
    'cp examples/popular-domains.txt popular.txt' \
    "printf 'GET /\\nGET /about\\nGET /\\nGET /\\nGET /about\\n' > access.log" \
    "printf 'a.example\\nb.example\\n' > monday.txt" \
    "printf 'b.example\\nc.example\\n' > tuesday.txt"

section "Which of these lines are in that list?" \
    'malkoha screen --list disposable.txt popular.txt' \
    'malkoha screen -c -v --list disposable.txt popular.txt' \
    'malkoha screen -n -o list --list disposable.txt popular.txt | head -3' \
    'malkoha screen --list dispsable.txt popular.txt'

section "Names, and all names below them" \
    "printf 'mail.0815.ru\nexample.org\nWWW.Zzz.COM.\n' | malkoha screen --domain --list disposable.txt"

section "Each line once" \
    'malkoha uniq access.log' \
    'malkoha uniq -c access.log | sort -rn' \
    'malkoha uniq --stats popular.txt disposable.txt > all.txt'

section "What is new since the last time" \
    'malkoha new seen.mlk monday.txt' \
    'malkoha new seen.mlk tuesday.txt' \
    'malkoha new seen.mlk tuesday.txt' \
    'malkoha diff tuesday.txt monday.txt'

section "A large list in a small file" \
    'malkoha build --fixed -o popular.mlk popular.txt' \
    'malkoha check -c popular.mlk popular.txt' \
    'malkoha check -v popular.mlk monday.txt' \
    'malkoha info popular.mlk | head -4' \
    'malkoha index popular.txt && ls popular.*'
