// Answers from a filter file, in a browser or in Node: docs/FORMAT.md as a program.
//
//     const filter = new Filter(await (await fetch("blocked.mlk")).arrayBuffer());
//     filter.verify();
//     filter.has("example.org")                    // text is hashed as UTF-8
//
// For sets and maps of fixed size. Nothing is sent anywhere: the file is all that it needs.

const MASK = (1n << 64n) - 1n;
const SIGNATURE = [0x8b, 0x4d, 0x4c, 0x4b, 0x0d, 0x0a, 0x1a, 0x0a];
const [BUCKETED, SEMI_SORTED, GAP_WINDOWS, WORDS] = [1, 2, 3, 5];

/** The file is damaged, or of a kind that this reader does not know. */
export class FormatError extends Error {}

/** A filter in the bytes of its file. */
export class Filter {
  /** @param {ArrayBuffer | Uint8Array} data the whole file */
  constructor(data) {
    this.bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
    const bytes = this.bytes;
    if (bytes.length < 128 || SIGNATURE.some((byte, at) => bytes[at] !== byte)) {
      throw new FormatError("not a malkoha file: it does not begin with the signature");
    }
    if (xxh3(bytes.subarray(0, 120), MASK) !== number(bytes, 120)) {
      throw new FormatError("the header is damaged: restore it from a copy");
    }
    const header = new DataView(bytes.buffer, bytes.byteOffset, 128);
    const [version, kind] = [header.getUint16(8, true), header.getUint16(10, true)];
    this.hash = bytes[12];
    this.layout = bytes[13];
    const bucket = bytes[14];
    const f = (this.bits = bytes[15]);
    if (version !== 1 || (kind !== 1 && kind !== 2) || ![1, 2, 3, 5].includes(this.layout)) {
      throw new FormatError("this reader knows version 1 of sets and maps of fixed size");
    }
    this.seed = number(bytes, 24);
    this.key = number(bytes, 72);
    this.capacity = Number(number(bytes, 32));
    this.length = Number(number(bytes, 40));
    this.segments = header.getUint32(48, true);
    this.places = header.getUint32(52, true);
    // Bits of a slot, and of all slots of a segment.
    let used = 64 * this.places;
    this.slots = Math.floor(64 / f);
    this.slotBits = f;
    if (this.layout === BUCKETED) {
      this.slots = bucket;
      this.slotBits = f + bytes[16];
      used = this.slots * this.slotBits * this.places;
    } else if (this.layout === SEMI_SORTED) {
      used = (4 * f - 4) * this.places;
    } else if (this.layout === GAP_WINDOWS) {
      this.gap = Math.min(7, Math.floor((f <= 14 ? 57 : 121) / f) - 1);
      used = (this.places + this.gap) * f;
    }
    this.segmentBytes = Math.ceil(used / 64) * 8 + 16;
    const table = this.segments * this.segmentBytes;
    if (Number(number(bytes, 56)) !== table || bytes.length < 128 + table + 8 * this.segments) {
      throw new FormatError("the file is not as long as its header says");
    }
  }

  /** Checks every byte of the table. */
  verify() {
    const sums = 128 + this.segments * this.segmentBytes;
    for (let segment = 0; segment < this.segments; segment++) {
      const start = 128 + segment * this.segmentBytes;
      const sum = xxh3(this.bytes.subarray(start, start + this.segmentBytes), BigInt(segment));
      if (sum !== number(this.bytes, sums + 8 * segment)) {
        throw new FormatError(`segment ${segment} is damaged`);
      }
    }
  }

  /** @param {string | Uint8Array} key */
  hashOf(key) {
    const bytes = typeof key === "string" ? new TextEncoder().encode(key) : key;
    return this.hash === 1 ? xxh3(bytes, this.seed) : sip13(bytes, this.seed, this.key);
  }

  /** Whether a key seems to be in. @param {string | Uint8Array} key */
  has(key) {
    const h = this.hashOf(key);
    const most = 2 ** (this.bits - (this.layout === GAP_WINDOWS ? 1 : 0)) - 1;
    const mixed = ((h * 0x9e3779b97f4a7c15n) & MASK) >> 32n;
    const fingerprint = scale(Number(mixed), most) + 1;
    const base = 128 + scale(Number(h >> 32n), this.segments) * this.segmentBytes;
    const i = scale(Number(h & 0xffffffffn), this.places);
    const sum = scale(Math.imul(fingerprint, 0x9e3779b1) >>> 0, this.places);
    const j = (sum - i + this.places) % this.places;
    return this.#holds(base, i, fingerprint) || this.#holds(base, j, fingerprint);
  }

  #holds(base, place, fingerprint) {
    const f = this.bits;
    if (this.layout === GAP_WINDOWS) {
      const gap = 1 + scale(Math.imul(fingerprint, 0x85ebca77) >>> 0, this.gap);
      const start = this.#read(base, place * f, f);
      const end = this.#read(base, (place + gap) * f, f);
      return start === 2 * fingerprint || end === 2 * fingerprint + 1;
    }
    if (this.layout === SEMI_SORTED) {
      return this.#bucket(base, place * (4 * f - 4)).includes(fingerprint);
    }
    const start = place * (this.layout === WORDS ? 64 : this.slots * this.slotBits);
    for (let slot = 0; slot < this.slots; slot++) {
      if (this.#read(base, start + slot * this.slotBits, f) === fingerprint) return true;
    }
    return false;
  }

  #bucket(base, start) {
    const low = this.bits - 4;
    let rank = this.#read(base, start, 12);
    // The top nibbles, greatest first: the number is a sum of binomials, one for each.
    return [3, 2, 1, 0].map((k) => {
      let nibble = 15;
      while (binomial(nibble + k, k + 1) > rank) nibble--;
      rank -= binomial(nibble + k, k + 1);
      return nibble * 2 ** low + this.#read(base, start + 12 + k * low, low);
    });
  }

  /** Up to 32 bits, from bit `start` behind byte `base`: exact in a number, as all is below 2^40. */
  #read(base, start, count) {
    let at = base + Math.floor(start / 8);
    let window = 0;
    for (let byte = 0, unit = 1; byte < 5; byte++, unit *= 256) window += this.bytes[at++] * unit;
    return Math.floor(window / 2 ** (start % 8)) % 2 ** count;
  }
}

/** floor(x * n / 2^32) of two numbers below 2^32. */
function scale(x, n) {
  return Number((BigInt(x) * BigInt(n)) >> 32n);
}

function binomial(n, k) {
  let result = 1;
  for (let i = 0; i < k; i++) result = (result * (n - i)) / (i + 1);
  return result;
}

function number(bytes, at, size = 8) {
  let value = 0n;
  for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[at + i]);
  return value;
}

const rotate = (x, by) => ((x << by) | (x >> (64n - by))) & MASK;

/** SipHash with one round for each word and three at the end (Aumasson and Bernstein, 2012). */
export function sip13(data, key0, key1) {
  const v = [
    key0 ^ 0x736f6d6570736575n,
    key1 ^ 0x646f72616e646f6dn,
    key0 ^ 0x6c7967656e657261n,
    key1 ^ 0x7465646279746573n,
  ];
  const round = () => {
    for (const [a, b, left, right] of [[0, 1, 13n, 32n], [2, 3, 16n, 0n], [0, 3, 21n, 0n], [2, 1, 17n, 32n]]) {
      v[a] = (v[a] + v[b]) & MASK;
      v[b] = rotate(v[b], left) ^ v[a];
      v[a] = rotate(v[a], right);
    }
  };
  const whole = data.length - (data.length % 8);
  for (let at = 0; at <= whole; at += 8) {
    const last = number(data, at, data.length - whole) | (BigInt(data.length & 0xff) << 56n);
    const word = at < whole ? number(data, at) : last;
    v[3] ^= word;
    round();
    v[0] ^= word;
  }
  v[2] ^= 0xffn;
  for (let i = 0; i < 3; i++) round();
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

// XXH3-64 with a seed, after its specification.

const P32 = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn];
const P64 = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
];
const SECRET = Uint8Array.from(
  (
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578" +
    "825ad07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea3" +
    "71644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931" +
    "c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e" +
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
  ).match(/../g),
  (byte) => parseInt(byte, 16),
);
const secret = (at) => number(SECRET, at);

export function xxh3(data, seed) {
  const size = data.length;
  const length = BigInt(size);
  if (size > 240) return long(data, seed);
  if (size > 16) return middle(data, seed);
  if (size > 8) {
    const low = number(data, 0) ^ (((secret(24) ^ secret(32)) + seed) & MASK);
    const high = number(data, size - 8) ^ (((secret(40) ^ secret(48)) - seed) & MASK);
    return avalanche(length + swap(low, 8) + high + fold(low, high));
  }
  if (size > 3) {
    seed ^= swap(seed & 0xffffffffn, 4) << 32n;
    let keyed = number(data, size - 4, 4) + (number(data, 0, 4) << 32n);
    keyed ^= ((secret(8) ^ secret(16)) - seed) & MASK;
    keyed ^= rotate(keyed, 49n) ^ rotate(keyed, 24n);
    keyed = (keyed * 0x9fb21c651e98df25n) & MASK;
    keyed = ((keyed ^ ((keyed >> 35n) + length)) * 0x9fb21c651e98df25n) & MASK;
    return keyed ^ (keyed >> 28n);
  }
  if (size > 0) {
    const [first, mid, last] = [data[0], data[size >> 1], data[size - 1]].map(BigInt);
    const mixed = (first << 16n) | (mid << 24n) | last | (length << 8n);
    const flip = ((number(SECRET, 0, 4) ^ number(SECRET, 4, 4)) + seed) & MASK;
    return avalanche64(mixed ^ flip);
  }
  return avalanche64(seed ^ secret(56) ^ secret(64));
}

function middle(data, seed) {
  const size = data.length;
  const mix = (at, key) => {
    const low = number(data, at) ^ ((secret(key) + seed) & MASK);
    const high = number(data, at + 8) ^ ((secret(key + 8) - seed) & MASK);
    return fold(low, high);
  };
  let total = BigInt(size) * P64[0];
  if (size <= 128) {
    for (let i = 0; i < Math.ceil(size / 32); i++) {
      total += mix(16 * i, 32 * i) + mix(size - 16 * (i + 1), 32 * i + 16);
    }
    return avalanche(total);
  }
  for (let i = 0; i < 8; i++) total += mix(16 * i, 16 * i);
  total = avalanche(total);
  for (let i = 8; i < Math.floor(size / 16); i++) total += mix(16 * i, 16 * (i - 8) + 3);
  return avalanche(total + mix(size - 16, 119));
}

/** By halves of 32 bits, since whole files are checked with it and BigInt is slow. */
function long(data, seed) {
  const keyed = new Uint8Array(192);
  const words = new DataView(keyed.buffer);
  for (let at = 0; at < 192; at += 16) {
    words.setBigUint64(at, (secret(at) + seed) & MASK, true);
    words.setBigUint64(at + 8, (secret(at + 8) - seed) & MASK, true);
  }
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const start = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]];
  const low = Uint32Array.from(start, (word) => Number(word & 0xffffffffn));
  const high = Uint32Array.from(start, (word) => Number(word >> 32n));
  const add = (lane, lower, upper) => {
    const sum = low[lane] + lower;
    low[lane] = sum;
    high[lane] += upper + (sum > 0xffffffff ? 1 : 0);
  };
  const accumulate = (at, key) => {
    for (let lane = 0; lane < 8; lane++) {
      const [wordLow, wordHigh] = [view.getUint32(at + 8 * lane, true), view.getUint32(at + 8 * lane + 4, true)];
      const a = (wordLow ^ words.getUint32(key + 8 * lane, true)) >>> 0;
      const b = (wordHigh ^ words.getUint32(key + 8 * lane + 4, true)) >>> 0;
      add(lane ^ 1, wordLow, wordHigh);
      const [lower, upper] = product(a, b);
      add(lane, lower, upper);
    }
  };
  const stripes = Math.floor((data.length - 1) / 64);
  for (let stripe = 0; stripe < stripes; stripe++) {
    accumulate(64 * stripe, 8 * (stripe % 16));
    if (stripe % 16 !== 15) continue;
    for (let lane = 0; lane < 8; lane++) {
      // x ^ x >> 47 touches the low half alone.
      const a = (low[lane] ^ (high[lane] >>> 15) ^ words.getUint32(128 + 8 * lane, true)) >>> 0;
      const b = (high[lane] ^ words.getUint32(132 + 8 * lane, true)) >>> 0;
      const [lower, upper] = product(a, 0x9e3779b1);
      low[lane] = lower;
      high[lane] = upper + Math.imul(b, 0x9e3779b1);
    }
  }
  accumulate(data.length - 64, 121);
  const acc = (lane) => (BigInt(high[lane]) << 32n) | BigInt(low[lane]);
  let result = BigInt(data.length) * P64[0];
  for (let i = 0; i < 4; i++) {
    const [a, b] = [0, 1].map((k) => acc(2 * i + k) ^ number(keyed, 11 + 16 * i + 8 * k));
    result += fold(a, b);
  }
  return avalanche(result);
}

/** The low and the high 32 bits of a product of two numbers below 2^32. */
function product(a, b) {
  const [a0, a1, b0, b1] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = a1 * b0 + ((a0 * b0) / 65536 >>> 0);
  const rest = a0 * b1 + (middle % 65536);
  return [Math.imul(a, b) >>> 0, a1 * b1 + Math.floor(middle / 65536) + Math.floor(rest / 65536)];
}

const swap = (x, size) => [...Array(size).keys()].reduce((sum, i) => (sum << 8n) | ((x >> BigInt(8 * i)) & 0xffn), 0n);

function fold(a, b) {
  const whole = a * b;
  return (whole & MASK) ^ (whole >> 64n);
}

function avalanche(x) {
  x &= MASK;
  x = ((x ^ (x >> 37n)) * 0x165667919e3779f9n) & MASK;
  return x ^ (x >> 32n);
}

function avalanche64(x) {
  x = ((x ^ (x >> 33n)) * P64[1]) & MASK;
  x = ((x ^ (x >> 29n)) * P64[2]) & MASK;
  return x ^ (x >> 32n);
}
