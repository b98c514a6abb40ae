import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { optimizeGraph } from "../../sdk/src/build/optimize/optimize-graph.ts";
import { readTextModel } from "../../sdk/src/build/text-model.ts";
import { probeTexts } from "../../sdk/src/build/verify/probe-texts.ts";
import type { TokenIds } from "../../sdk/src/runtime/engine/engine.ts";
import { edgeFile } from "../suites/edge-file.ts";
import { randomSequences, TINY_EDGE, type TinyEncoder, tinyEdgeFile, tinyEncoders } from "../suites/tiny-edge-file.ts";
import type { Cases } from "./digests.ts";

const root = join(import.meta.dirname, "../..");

/** What all runtimes are given: model files, `cases.json`, the kernels, and `digests.mjs`, one bundle for all of them. */
export async function writeCases(folder: string): Promise<void> {
  const cases: Record<string, Cases[string]> = {};
  const add = async (name: string, file: Uint8Array, sequences: readonly TokenIds[]) => {
    await writeFile(join(folder, name), file);
    cases[name] = sequences.map((ids) => [...ids]);
  };
  for (const name of Object.keys(tinyEncoders) as TinyEncoder[]) {
    await add(name, await tinyEdgeFile(name), randomSequences(TINY_EDGE));
  }
  const { graph, config, maxTokens, encode } = await readTextModel(join(root, "models/default"));
  await optimizeGraph(graph);
  await add("default", await edgeFile(graph, { maxTokens, vocabulary: config.vocab_size }), encode(probeTexts));

  await writeFile(join(folder, "cases.json"), JSON.stringify(cases));
  for (const kernels of ["relaxed.wasm", "simd.wasm"]) {
    await copyFile(join(root, "sdk/dist/kernels", kernels), join(folder, kernels));
  }
  await build({
    entryPoints: [join(import.meta.dirname, "digests.ts")],
    bundle: true,
    format: "esm",
    outfile: join(folder, "digests.mjs"),
    logLevel: "error",
  });
}
