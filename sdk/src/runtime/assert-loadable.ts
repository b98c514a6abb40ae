import type { Artifact } from "../artifact/artifact.ts";
import { assertFits } from "./assert-fits.ts";
import { readModelFile } from "./engine/wasm/load/model-file.ts";
import { parseProgram } from "./engine/wasm/load/parse-program.ts";
import { shapeOf } from "./engine/wasm/run/shape-of.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";

/**
 * Checks that this version of the package can load an artifact: its tokenizer and its wasm model file. A broken artifact
 * must not be published, because it would replace a working one.
 *
 * @throws BertEdgeError `tokenizer_invalid`, `model_invalid`, `model_version`, and the errors of reading files
 */
export async function assertLoadable({ manifest, read }: Pick<Artifact, "manifest" | "read">): Promise<void> {
  await loadTokenizer(manifest, read);
  for (const target of Object.values(manifest.targets)) {
    if (target?.engine === "wasm") assertFits(manifest, shapeOf(parseProgram(readModelFile(await read(target.model)))));
  }
}
