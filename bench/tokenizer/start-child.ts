import { readFile } from "node:fs/promises";
import type { Manifest } from "#sdk/artifact/manifest.ts";

/** Startup of one process. */
export interface Start {
  /** Milliseconds to load the code. */
  readonly load: number;
  /** Milliseconds from the files' bytes to the ids of the first text. */
  readonly firstIds: number;
  /** Bytes still in use: `heap` is JavaScript's heap; `buffers` includes files that the tokenizer reads in place. */
  readonly heap: number;
  readonly buffers: number;
}

const kind = process.argv[2] as "packed" | "json";
const files = process.argv.slice(3);
const collect = globalThis.gc as () => void;
const manifest: Pick<Manifest, "tokenizer" | "vocabulary"> = {
  tokenizer: kind === "packed" ? { kind, file: "0" } : { kind, json: "0", config: "1" },
  vocabulary: Number.POSITIVE_INFINITY,
};

collect();
const before = process.memoryUsage();
let contents = await Promise.all(files.map(async (file) => new Uint8Array(await readFile(file))));
const start = performance.now();
// Imports the built code, because Node.js would otherwise spend time on stripping types.
const { loadTokenizer } = await import("../../sdk/dist/runtime/tokenizer/load-tokenizer.js");
const loaded = performance.now();
const tokenizer = await loadTokenizer(manifest, async (file) => contents[Number(file)] as Uint8Array<ArrayBuffer>);
tokenizer.encode("Where is the mill?", 512);
const done = performance.now();
contents = [];
collect();
const { heapUsed, arrayBuffers } = process.memoryUsage();
const report: Start = {
  load: loaded - start,
  firstIds: done - loaded,
  heap: heapUsed - before.heapUsed,
  buffers: arrayBuffers - before.arrayBuffers,
};
// Use the tokenizer here, so that it is not garbage-collected before the measurement.
console.log(JSON.stringify({ ...report, tokens: tokenizer.encode("To be or not", 512).tokens }));
