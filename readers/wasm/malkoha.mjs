// The library itself, compiled to WebAssembly: every kind of filter file, in a browser or in Node.
//
//     const filter = await Filter.load(await wasm.arrayBuffer(), await file.arrayBuffer());
//     filter.has("example.org")
//     filter.hasLines("example.org\nexample.com\n")        // [true, false], say
//
// crates/malkoha-wasm is the other side, and says how to build it.

/** A filter in the bytes of its file. */
export class Filter {
  #module;

  /** @param {BufferSource} module malkoha_wasm.wasm @param {ArrayBuffer | Uint8Array} data the file */
  static async load(module, data) {
    const { instance } = await WebAssembly.instantiate(module, {});
    return new Filter(instance.exports, data instanceof Uint8Array ? data : new Uint8Array(data));
  }

  constructor(exports, data) {
    this.#module = exports;
    this.#memory(exports.malkoha_buffer(data.length), data.length).set(data);
    const length = exports.malkoha_open();
    if (length > 0) {
      const message = this.#memory(exports.malkoha_message(), length);
      throw new Error(new TextDecoder().decode(message));
    }
  }

  /** The number of keys, copies included. */
  get length() {
    return this.#module.malkoha_len();
  }

  /** Whether a key seems to be in. @param {string | Uint8Array} key */
  has(key) {
    return this.#module.malkoha_has(this.#put(key)) !== 0;
  }

  /** The same for each line of a text. @param {string | Uint8Array} text */
  hasLines(text) {
    const lines = this.#module.malkoha_has_lines(this.#put(text));
    return Array.from(this.#memory(this.#module.malkoha_answers(), lines), (answer) => answer !== 0);
  }

  /** Writes text into the module's buffer, as UTF-8. Returns its length in bytes. */
  #put(text) {
    if (typeof text !== "string") {
      this.#memory(this.#module.malkoha_buffer(text.length), text.length).set(text);
      return text.length;
    }
    // A character of a string becomes three bytes at most.
    const most = 3 * text.length;
    const room = this.#memory(this.#module.malkoha_buffer(most), most);
    return new TextEncoder().encodeInto(text, room).written;
  }

  /** A part of the module's memory, which may lie elsewhere after the next call. */
  #memory(at, length) {
    return new Uint8Array(this.#module.memory.buffer, at, length);
  }
}
