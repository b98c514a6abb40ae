/**
 * The rooms of `sdk/src`, from the lowest to the highest. A file may import from its own room and from lower rooms, never
 * from a higher one. The longest matching prefix names a file's room.
 */
export const layers: readonly string[] = [
  "artifact",
  "storage",
  "runtime",
  "local",
  "serve/contract",
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
  "compile/pack/tokenizer",
  "compile/model",
  "compile/pack",
  "compile/accuracy",
  "compile/latency",
  "compile/stages",
  "compile/commands",
  "compile",
  "",
  "cli",
];

/** Rooms that import even less than their place in `layers` allows. */
export const narrower: Readonly<Record<string, readonly string[]>> = {
  // Browsers load the client: it shares types with the server and nothing else.
  client: ["serve/contract"],
};

/** Pairs of wings that do not know each other, whatever their order. */
export const strangers: readonly (readonly [wing: string, other: string])[] = [
  ["compile", "serve"],
  ["compile", "client"],
  // Models in this process, for Node: a server gets its engine from outside.
  ["serve", "local"],
];

/** Wings that run in Workers, browsers and every other web-standard runtime, and so import no Node built-in. */
export const webStandard: readonly string[] = ["artifact", "storage", "runtime", "serve", "client"];

/** The parts of those wings that are entries for Node alone. */
export const nodeOnly: readonly string[] = [
  "storage/fs.ts",
  "storage/folder-artifact.ts",
  "storage/s3-publisher.ts",
  "runtime/engine/ort-node/",
  "runtime/engine/wasm-pool/node/",
];
