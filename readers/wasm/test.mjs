// The library in WebAssembly against its own vectors: node test.mjs malkoha_wasm.wasm
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Filter } from "./malkoha.mjs";

const here = new URL(".", import.meta.url);
const module = readFileSync(process.argv[2]);
const vectors = JSON.parse(readFileSync(new URL("../vectors.json", here)));
let answers = 0;
for (const { file, answers: expected } of vectors.files) {
  const data = readFileSync(new URL(`../../${file}`, here));
  const filter = await Filter.load(module, data);
  [...expected].forEach((answer, i) => {
    const key = new Uint8Array(8);
    new DataView(key.buffer).setUint32(0, i, true);
    assert.equal(filter.has(key), answer === "1", `${file}, key ${i}`);
    answers++;
  });
  data[140] ^= 4;
  await assert.rejects(Filter.load(module, data), /damaged|checksum/, file);
}
const list = new URL("../javascript/disposable-email-domains.mlk", here);
const filter = await Filter.load(module, readFileSync(list));
assert.deepEqual(filter.hasLines("mailinator.com\nwikipedia.org\n\nguerrillamail.com"), [true, false, false, true]);
assert.equal(filter.has("mailinator.com"), true);
assert.equal(filter.length, 8335);
// Longer than what is looked up together.
const many = Array.from({ length: 5000 }, (_, i) => (i % 7 === 0 ? "mailinator.com" : `${i}.example.org`));
const found = filter.hasLines(many.join("\n"));
assert.deepEqual(found, many.map((line) => filter.has(line)));
console.log(`webassembly: ${vectors.files.length} files, ${answers} answers as they should be`);
