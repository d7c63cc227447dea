"use strict";
// The formulas of malkoha::params; a test compares the results.
const informationBound = (fpr) => -Math.log2(fpr);
const bloomBits = (fpr) => informationBound(fpr) / Math.LN2;
const cuckooBits = (fpr, bucketSize, load) => (informationBound(fpr) + Math.log2(2 * bucketSize)) / load;
const semiSortedBits = (fpr, load) => (informationBound(fpr) + 2) / load;

/** Name and bits a key of each structure at this false-positive rate, a fraction. */
function costs(fpr) {
  return [
    ["information bound", informationBound(fpr)],
    ["gap windows", cuckooBits(fpr, 2, 0.95)],
    ["semi-sorted cuckoo", semiSortedBits(fpr, 0.95)],
    ["cuckoo, buckets of 2", cuckooBits(fpr, 2, 0.84)],
    ["cuckoo, buckets of 4", cuckooBits(fpr, 4, 0.95)],
    ["cuckoo, buckets of 8", cuckooBits(fpr, 8, 0.98)],
    ["Bloom", bloomBits(fpr)],
    ["quotient", (informationBound(fpr) + 3) / 0.9],
    ["d-left counting", (informationBound(fpr) + Math.log2(12) + 2) / 0.75],
    ["counting Bloom", 4 * bloomBits(fpr)],
  ];
}

function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return (bytes / 1000 ** unit).toFixed(unit > 0 ? 2 : 0) + " " + units[unit];
}

function calculate() {
  const keys = document.getElementById("keys").valueAsNumber;
  const fpr = document.getElementById("fpr").valueAsNumber / 100;
  const problem = document.getElementById("problem");
  const rows = document.getElementById("costs");
  if (!(keys >= 1 && keys <= 2 ** 36 && fpr >= 1e-9 && fpr < 1)) {
    problem.textContent = "Give 1 to 68 719 476 736 keys and a rate between 0.0000001 % and 99 %.";
    rows.replaceChildren();
    return;
  }
  problem.textContent = "";
  rows.replaceChildren(...costs(fpr).map(([name, bits]) => {
    const row = document.createElement("tr");
    const head = row.appendChild(document.createElement("th"));
    head.scope = "row";
    head.textContent = name;
    row.insertCell().textContent = bits.toFixed(2);
    row.insertCell().textContent = size(Math.ceil((bits * keys) / 8));
    return row;
  }));
}

document.getElementById("keys").addEventListener("input", calculate);
document.getElementById("fpr").addEventListener("input", calculate);
calculate();
