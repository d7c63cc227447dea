#!/usr/bin/env bash
# Makes docs/ODD-INPUTS.md: unusual inputs and outputs, and the result.
#     cargo build --release -p malkoha-cli && docs/odd-inputs.sh > docs/ODD-INPUTS.md
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "${MALKOHA:-$root/target/release/malkoha}" "$folder/bin/malkoha"
export PATH="$folder/bin:$PATH"
cd "$folder"
printf 'a\nb\nc\n' > list
printf 'b\nx\n' > input
printf 'b' > open-end
printf 'a\r\nb\r\n' > crlf
printf '\xef\xbb\xbfb\n' > bom
printf 'a\0b\0' > nul
printf 'b\n\n\xff\xfe\n' > bytes
gzip -c input > input.gz
printf 'PK\003\004...' > archive.zip
(head -c 100000000 /dev/zero | tr '\0' y; printf '\nb\n') > long
malkoha build -q -o f.mlk list
mkfifo pipe

# A line of the table: what it is, the command, and what it prints with its exit code.
row() {
    local said code=0
    said=$(timeout 60 bash -c "$2" 2>&1 | head -c 400 | tr '\0' '@' | cat -v | awk '{printf "%s%s", (NR > 1 ? "⏎" : ""), $0}'; exit "${PIPESTATUS[0]}") || code=$?
    printf '| %s | `%s` | %s | %s |\n' "$1" "${2//|/\\|}" "${said:+\`${said//|/\\|}\`}" "$code"
}

cat <<'HEAD'
# Odd inputs and outputs

Made by [odd-inputs.sh](odd-inputs.sh), which runs these commands: `list` has the lines a, b and c,
`input` has b and x. ⏎ stands for the end of a line, @ for NUL, `^M` for CR, `M-` for high bytes.

| what is odd | command | what is printed | exit code |
| --- | --- | --- | ---: |
HEAD
row "no last newline" 'malkoha screen -f list open-end'
row "CR before line ends" 'malkoha screen -f list crlf'
row "the same, as line ends" 'malkoha screen --crlf -f list crlf'
row "a byte order mark" 'malkoha screen -f list bom'
row "NUL as an ordinary byte" 'malkoha uniq nul'
row "NUL as the end of a record" "malkoha screen -0 -f nul nul"
row "an empty line, and bytes that are not text" 'malkoha uniq bytes'
row "a line of 100 MB" 'malkoha screen -f long long | wc -c'
row "compressed input" 'malkoha screen -f list input.gz'
row "a zip archive" 'malkoha uniq archive.zip'
row "a filter file as the list" 'malkoha screen -f f.mlk input'
row "a file that is not there, among others" 'malkoha uniq missing input'
row "a FIFO" 'cat input > pipe & malkoha uniq pipe'
row "list and input are one pipe" 'malkoha screen -f - -'
row "output appended to the input" 'malkoha uniq input >> input'
row "a full device" 'malkoha uniq input > /dev/full'
row "a reader that has read enough" 'yes | malkoha screen -f <(echo y) | head -1'
row "a filter to a file of text that is there" 'malkoha build -q -o list input'
row "a signal while a filter is written" 'malkoha build -q -o g.mlk <(cat list; sleep 5) & sleep 0.3; kill $!; wait $!; echo $?; ls -A | grep -c g.mlk'
row "a field that is not there" 'malkoha screen -k 3 -f list input'
row "a quote that is not closed" "echo 'x,\"b' | malkoha screen --csv -k 2 -f list"
