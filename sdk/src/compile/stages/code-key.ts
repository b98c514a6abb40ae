import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { ownFolder } from "../../local/own-module.ts";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import { contentKey, folderKey } from "./content-key.ts";

/** Folders with all code that `prepare` runs. A change elsewhere, as in the client, leaves kept results valid. */
export const codeFolders = ["artifact", "bulk", "compile", "embedded", "local", "runtime", "storage"] as const;

let known: Promise<string> | undefined;

/**
 * Hashes what determines results besides a stage's input: the code that `prepare` runs, the version of onnxruntime, and the
 * CPU, whose instructions decide how kernels round.
 */
export function codeKey(): Promise<string> {
  known ??= compute();
  return known;
}

async function compute(): Promise<string> {
  const { env } = await onnxruntimeNode();
  // The sources can lack the folder `embedded` with the kernels, and have tests beside the code. Both are skipped.
  const folders = codeFolders.map((name) => join(ownFolder(), name)).filter((folder) => existsSync(folder));
  const code = await Promise.all(folders.map((folder) => folderKey(folder, (path) => !path.endsWith(".test.ts"))));
  return contentKey("code", code, env.versions, process.arch, cpus()[0]?.model ?? "");
}
