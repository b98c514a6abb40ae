import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { parseGolden } from "../artifact/golden.ts";
import { type Manifest, PREPARE_AGAIN, type Target, type TargetName, targetNames } from "../artifact/manifest.ts";
import { assertFits, assertTokenizerFits } from "./assert-fits.ts";
import { assertFiniteOnnx } from "./engine/assert-finite-onnx.ts";
import { assertFinite } from "./engine/wasm/load/assert-finite.ts";
import { readModelFile } from "./engine/wasm/load/model-file.ts";
import { parseProgram } from "./engine/wasm/load/parse-program.ts";
import { shapeOf } from "./engine/wasm/run/shape-of.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";

/** Engines that can run each target. */
const engines: Readonly<Record<TargetName, readonly Target["engine"][]>> = {
  edge: ["wasm", "ort-web"],
  "regional-cpu": ["ort-node"],
  "regional-gpu": ["ort-node"],
};

/**
 * Checks that this version of the package can load an artifact: its tokenizer, its golden texts, its default prompt, the engines of
 * its targets and their model files. A broken artifact must not be published, because it would replace a working one.
 *
 * @throws BertEdgeError `tokenizer_invalid`, `model_invalid`, `model_version`, `artifact_corrupt`, `manifest_invalid`,
 *   `engine_mismatch`, and the errors of reading files
 */
export async function assertLoadable({ manifest, read }: Pick<Artifact, "manifest" | "read">): Promise<void> {
  assertDefaultPrompt(manifest);
  assertTokenizerFits(manifest, await loadTokenizer(manifest, read));
  if (manifest.task === "embed" && manifest.golden !== undefined) {
    parseGolden(await read(manifest.golden), manifest.dimensions, manifest.name);
  }
  for (const name of targetNames) {
    const target = manifest.targets[name];
    if (!target) continue;
    assertEngine(manifest.name, name, target.engine);
    const file = await read(target.model);
    if (target.engine === "wasm") assertWasmFile(manifest, file, target.pages);
    else assertFiniteOnnx(file);
  }
}

function assertWasmFile(manifest: Manifest, file: Uint8Array<ArrayBuffer>, pages: readonly string[] = []): void {
  const program = parseProgram(readModelFile(file));
  assertFits(manifest, shapeOf(program));
  assertFinite(file, program);
  const found = pages.reduce((sum, name) => sum + (manifest.files[name]?.size ?? 0), 0);
  const needed = program.tables.reduce((sum, table) => sum + (table.pages?.bytes ?? 0), 0);
  if (found === needed) return;
  throw new BertEdgeError(
    "manifest_invalid",
    `The pages of the token embedding table of ${manifest.name} have ${found} bytes, and the model file needs ${needed}.`,
    { hint: PREPARE_AGAIN },
  );
}

function assertDefaultPrompt(manifest: Manifest): void {
  if (!("defaultPrompt" in manifest)) return;
  const { name, prompts = {}, defaultPrompt } = manifest;
  if (defaultPrompt === undefined || Object.hasOwn(prompts, defaultPrompt)) return;
  const shown = JSON.stringify(defaultPrompt.slice(0, 80));
  throw new BertEdgeError("manifest_invalid", `The default prompt ${shown} of ${name} is not among its prompts.`, {
    hint: PREPARE_AGAIN,
  });
}

function assertEngine(model: string, target: TargetName, engine: Target["engine"]): void {
  if (engines[target].includes(engine)) return;
  throw new BertEdgeError("engine_mismatch", `The target ${target} of ${model} is for the engine ${engine}.`, {
    hint: `This target runs on ${engines[target].join(" or ")}. ${PREPARE_AGAIN}`,
  });
}
