// The library in WebAssembly against the reader in JavaScript: lookups a second of both, in one process,
// in turns, and whether they agree.
//
//     node bench.mjs malkoha_wasm.wasm FILTER KEYS      KEYS: a text file, a key a line
import { readFileSync } from "node:fs";
import { Filter as Reader } from "../javascript/malkoha.js";
import { Filter as Library } from "./malkoha.mjs";

const [module, file, keys] = process.argv.slice(2).map((path) => readFileSync(path));
const text = keys.toString("utf8").trimEnd();
const lines = text.split("\n");
const loaded = async (load) => {
  const start = performance.now();
  return [await load(), performance.now() - start];
};
const [reader, readerMs] = await loaded(() => {
  const reader = new Reader(file);
  reader.verify();
  return reader;
});
const [library, libraryMs] = await loaded(() => Library.load(module, file));
console.log(`${file.length} bytes opened and checked: JavaScript ${readerMs.toFixed(0)} ms, WebAssembly ${libraryMs.toFixed(0)} ms`);

// What is looked up one by one: enough to be timed, and the slow one need not wait for long.
const some = lines.slice(0, 100_000);
const ways = {
  "JavaScript, one by one": [some, () => some.map((line) => reader.has(line))],
  "WebAssembly, one by one": [some, () => some.map((line) => library.has(line))],
  "WebAssembly, a text of lines": [lines, () => library.hasLines(text)],
};
const rates = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
const answers = {};
for (let round = 0; round < 5; round++) {
  for (const [name, [asked, ask]] of Object.entries(ways)) {
    const start = performance.now();
    answers[name] = ask();
    rates[name].push(asked.length / (performance.now() - start) / 1000);
  }
}
const [first, ...others] = Object.values(answers);
for (const other of others) {
  const at = first.findIndex((answer, i) => answer !== other[i]);
  if (at >= 0) throw new Error(`they disagree about '${lines[at]}'`);
}
for (const [name, found] of Object.entries(rates)) {
  found.sort((a, b) => a - b);
  console.log(`${name.padEnd(30)} ${found[2].toFixed(2).padStart(8)} million lookups a second, median of 5 (${found[0].toFixed(2)} to ${found[4].toFixed(2)})`);
}
console.log(`${first.filter(Boolean).length} of the first ${first.length} keys are in, by all three`);
