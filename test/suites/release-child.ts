/**
 * Loads a model of 20 MB, runs and releases it, 200 times, and keeps every session. Prints the most memory that this process
 * had, before and while it did, as JSON.
 */

import { oneModel } from "../../sdk/src/runtime/engine/engine.ts";
import { wasmEngine } from "../../sdk/src/runtime/engine/wasm/index.ts";
import { compiled } from "./kernels/builds.ts";
import { tinyEdgeFile } from "./tiny-edge-file.ts";

const BYTES = 20_000_000;
const TIMES = 200;

const model = new Uint8Array(BYTES).fill(1);
// What follows the last tensor is nobody's.
model.set(await tinyEdgeFile("bert"));
const engine = wasmEngine({ simd: await compiled("simd") });
const used = () => process.memoryUsage.rss() / BYTES;

const before = used();
let most = 0;
const released = [];
for (let time = 0; time < TIMES; time++) {
  const session = await engine.load(oneModel(model));
  await session.run([Int32Array.of(1, 2, 3)]);
  most = Math.max(most, used());
  await session.release();
  released.push(session);
}
console.log(JSON.stringify({ before, most, released: released.length }));
