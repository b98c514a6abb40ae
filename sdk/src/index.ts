export type { Artifact } from "./artifact/artifact.ts";
export { BertEdgeError } from "./artifact/error.ts";
export type { Cost, Manifest, Parity, Pointer, Target, TargetName } from "./artifact/manifest.ts";
export { assetsFolder } from "./storage/assets-folder.ts";
export { openFolder } from "./storage/folder-artifact.ts";
export { fsStore } from "./storage/fs.ts";
export { memoryStore } from "./storage/memory.ts";
export { type Published, publish } from "./storage/publish.ts";
export type { ObjectStore, WritableStore } from "./storage/store.ts";
