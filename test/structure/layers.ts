/**
 * The rooms (folders) of `sdk/src`, from the lowest to the highest. A file may import from its own room and from lower
 * rooms, never from a higher one. If a file's path starts with several of these names, the longest name is its room.
 */
export const layers: readonly string[] = [
  "artifact",
  "storage",
  "runtime",
  "local",
  "serve/contract",
  "bulk",
  "serve/queue",
  "serve/routing",
  "serve/region",
  "serve/answering",
  "serve/keys",
  "serve/bulk",
  "serve/middleware",
  "serve/routes",
  "serve/tasks",
  "serve/dialects",
  "serve/openapi",
  "serve",
  "client",
  "compile/files",
  "compile/subprocess",
  "compile/proto",
  "compile/graph",
  "compile/onnx",
  "compile/shapes",
  "compile/evaluate",
  "compile/layout",
  "compile/rewrite",
  "compile/normalize",
  "compile/fusions",
  "compile/quantize",
  "compile/lower",
  "compile/checkpoint",
  "compile/pack",
  "compile/model",
  "compile/accuracy",
  "compile/latency",
  "compile/stages",
  "compile/commands",
  "compile",
  "",
  "cli",
];

/** Folders with more than 25 files of their own. They may not grow. */
export const crowded: Readonly<Record<string, number>> = {
  artifact: 30,
  cli: 33,
  "compile/checkpoint": 30,
  storage: 38,
};

/** The handler of a task's route, and the files that may be reached from it by imports: what its reader may have to know. */
export const walk = { from: "serve/routes/task-route.ts", atMost: 40 };

/**
 * The room whose own files stand between its inner rooms. For an inner room, such a file is as high as the highest room that it
 * imports, itself or through other such files.
 */
export const stairs = "serve";

/** Rooms that may import only from the listed rooms, not from all lower rooms. */
export const narrower: Readonly<Record<string, readonly string[]>> = {
  // Browsers load the client, so it shares only the contract with the server: types, names, and the encoding of vectors.
  client: ["serve/contract", "serve/tasks"],
};

/** Pairs of rooms that must not import each other, in either direction. */
export const strangers: readonly (readonly [room: string, other: string])[] = [
  ["compile", "serve"],
  ["compile", "client"],
  // A server gets its engine from outside; `local` runs models in this process, on Node.
  ["serve", "local"],
];

/** Rooms that run in Workers, browsers and other web-standard runtimes. They import no Node built-in. */
export const webStandard: readonly string[] = ["artifact", "storage", "runtime", "bulk", "serve", "client"];

/** Parts of the `webStandard` rooms that run only on Node. */
export const nodeOnly: readonly string[] = [
  "storage/file-lock.ts",
  "storage/fs.ts",
  "storage/folder-artifact.ts",
  "storage/hub-model.ts",
  "storage/leads-out.ts",
  "storage/s3-bounds.ts",
  "storage/s3-parts.ts",
  "storage/s3-publisher.ts",
  "runtime/engine/ort-node/",
  "runtime/engine/threads/node-thread.ts",
  "runtime/engine/wasm-pool/node/",
];
