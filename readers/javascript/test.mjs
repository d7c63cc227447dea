// The reader against the vectors of the library: node test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Filter, FormatError, sip13, xxh3 } from "./malkoha.js";

const here = new URL(".", import.meta.url);
const vectors = JSON.parse(readFileSync(new URL("../vectors.json", here)));
const words = (text) => BigInt("0x" + text);

for (const { bytes, seed, xxh3: expected } of vectors.xxh3) {
  const data = Uint8Array.from({ length: bytes }, (_, i) => (i * 167 + 13) & 0xff);
  assert.equal(xxh3(data, words(seed)), words(expected), `xxh3 of ${bytes} bytes, seed ${seed}`);
}
for (const { bytes, key, sip13: expected } of vectors.sip13) {
  const data = Uint8Array.from({ length: bytes }, (_, i) => (i * 167 + 13) & 0xff);
  const [key0, key1] = [words(key[0]), words(key[1])];
  assert.equal(sip13(data, key0, key1), words(expected), `sip13 of ${bytes} bytes`);
}
let answers = 0;
for (const { file, answers: expected } of vectors.files) {
  const data = readFileSync(new URL(`../../${file}`, here));
  const filter = new Filter(data);
  filter.verify();
  [...expected].forEach((answer, i) => {
    const key = new Uint8Array(8);
    new DataView(key.buffer).setUint32(0, i, true);
    assert.equal(filter.has(key), answer === "1", `${file}, key ${i}`);
    answers++;
  });
  data[140] ^= 4;
  assert.throws(() => new Filter(data).verify(), FormatError, file);
  assert.throws(() => new Filter(data.subarray(0, 150)), FormatError, file);
}
console.log(`javascript: ${vectors.files.length} files, ${answers} answers as they should be`);
