import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "./attempt.ts";
import { damaged } from "./damage.ts";

/** Says what becomes of one damaged model after another; a process of its own, since native code may end it. */
const [folder = "", first = "0", last = "0"] = process.argv.slice(2);
const path = join(folder, `${process.pid}.onnx`);
for (let seed = Number(first); seed < Number(last); seed++) {
  const { bytes, how } = damaged(seed);
  process.send?.({ seed, how });
  writeFileSync(path, bytes);
  process.send?.({ seed, outcome: await attempt(path) });
}
process.disconnect?.();
