import type { Artifact } from "../artifact/artifact.ts";
import { readModelFile } from "./engine/wasm/load/model-file.ts";
import { parseProgram } from "./engine/wasm/load/parse-program.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";

/**
 * Reads the files of an artifact that have a format of this package. A file that this version cannot load must not be
 * published, because it would replace a model that works.
 *
 * @throws BertEdgeError `tokenizer_invalid`, `model_invalid`, `model_version`, or what reading throws
 */
export async function assertLoadable({ manifest, read }: Pick<Artifact, "manifest" | "read">): Promise<void> {
  await loadTokenizer(manifest, read);
  for (const target of Object.values(manifest.targets)) {
    if (target?.engine === "wasm") parseProgram(readModelFile(await read(target.model)));
  }
}
