/** Names that two files may export, each with the reason. Every other name is exported only once. */
export const sameNameAllowed: Readonly<Record<string, string>> = {
  wasmPoolEngine: "one entry, bert-edge/engine/wasm-pool, with a form for Node and one for other runtimes",
};
