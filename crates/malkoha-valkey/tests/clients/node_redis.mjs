// The CF.* commands by node-redis: `node node_redis.mjs PORT PROTOCOL`, with the package `redis`
// below NODE_PATH.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const { createClient } = createRequire(`${process.env.NODE_PATH}/`)("redis");
const [port, RESP] = process.argv.slice(2).map(Number);
const client = createClient({ socket: { host: "127.0.0.1", port }, RESP });
client.on("error", (error) => { throw error; });
await client.connect();
const { cf } = client;
// What node-redis makes of the replies differs by protocol and version: 1 or true.
const all = (replies, wanted) => assert.deepEqual(replies.map(Boolean), wanted);

await cf.reserve("f", 1000, { BUCKETSIZE: 2, MAXITERATIONS: 20, EXPANSION: 1 });
await assert.rejects(cf.reserve("f", 1000), /item exists/);
assert.ok(await cf.add("f", "a"));
assert.ok(await cf.add("f", "a"));
assert.ok(!(await cf.addNX("f", "a")));
assert.ok(await cf.addNX("f", "b"));
assert.equal(await cf.count("f", "a"), 2);
all(await cf.insert("g", ["x", "y"], { CAPACITY: 500 }), [true, true]);
assert.deepEqual((await cf.insertNX("g", ["y", "z"])).map(Number), [0, 1]);
await assert.rejects(cf.insert("none", ["x"], { NOCREATE: true }), /not found/);
assert.ok(await cf.exists("f", "a"));
assert.ok(!(await cf.exists("f", "c")));
assert.ok(await cf.del("f", "a"));
assert.ok(!(await cf.del("f", "c")));
const info = await cf.info("f");
assert.equal(Number(info["Number of items inserted"]), 2);
assert.equal(Number(info["Number of filters"]), 1);
assert.equal(Number(info["Bucket size"]), 2);
const items = Array.from({ length: 5000 }, (_, number) => `item${number}`);
for (const item of items) await cf.add("many", item);
// Bytes as they are, in either direction.
const bytes = client.withTypeMapping({ 36: Buffer });
let iterator = 0;
do {
    const dump = await bytes.cf.scanDump("many", iterator);
    iterator = Number(dump.iterator);
    if (iterator > 0) await cf.loadChunk("copy", iterator, dump.chunk);
} while (iterator > 0);
const found = await client.sendCommand(["CF.MEXISTS", "copy", ...items, "none of them"]);
assert.equal(found.filter(Boolean).length, items.length);
const batch = await client.multi().cf.add("f", "z").cf.exists("f", "z").exec();
all(batch, [true, true]);
client.destroy();
console.log("node-redis: passed");
