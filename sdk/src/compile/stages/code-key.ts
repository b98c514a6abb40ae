import { cpus } from "node:os";
import { join } from "node:path";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import { contentKey, folderKey } from "./content-key.ts";

/** The compiled package, or its sources if those run. */
const CODE = join(import.meta.dirname, "../..");

let known: Promise<string> | undefined;

/**
 * Hashes what determines results besides a stage's input: the code of this package, the version of onnxruntime, and the
 * CPU, whose instructions decide how kernels round.
 */
export function codeKey(): Promise<string> {
  known ??= compute();
  return known;
}

async function compute(): Promise<string> {
  const { env } = await onnxruntimeNode();
  return contentKey("code", await folderKey(CODE), env.versions, process.arch, cpus()[0]?.model ?? "");
}
