import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { encoderWeights } from "../../sdk/src/build/checkpoint/encoder-weights.ts";
import type { Graph } from "../../sdk/src/build/graph/graph.ts";
import { optimizeGraph } from "../../sdk/src/build/optimize/optimize-graph.ts";
import { readTextModel } from "../../sdk/src/build/text-model.ts";
import { probeTexts } from "../../sdk/src/build/verify/probe-texts.ts";
import { edgeFile } from "../suites/edge-file.ts";
import { fusedGraph } from "../suites/fused-graph.ts";
import { randomNumbers } from "../suites/seeded.ts";
import { tinyBert } from "../suites/tiny-bert.ts";
import { tinyModernBert } from "../suites/tiny-modernbert.ts";
import { tinyNomic } from "../suites/tiny-nomic.ts";
import type { Cases } from "./digests.ts";

const root = join(import.meta.dirname, "../..");

/** What all runtimes are given: model files, `cases.json`, the kernels, and `digests.mjs`, one bundle for all of them. */
export async function writeCases(folder: string): Promise<void> {
  const cases: Record<string, Cases[string]> = {};
  const add = async (name: string, fused: Graph, size: { maxTokens: number; vocabulary: number }, ids?: number[][]) => {
    await writeFile(join(folder, name), await edgeFile(fused, size));
    cases[name] = ids ?? randomSequences(size);
  };
  const nomic = tinyNomic().current;
  const tiny = { bert: tinyBert(), modernbert: tinyModernBert(), nomic: { ...nomic, weights: encoderWeights(nomic) } };
  for (const [name, { config, weights }] of Object.entries(tiny)) {
    await add(name, await fusedGraph(config, weights), { maxTokens: 16, vocabulary: config.vocab_size });
  }
  const model = await readTextModel(join(root, "models/default"));
  await optimizeGraph(model.graph);
  const size = { maxTokens: model.maxTokens, vocabulary: model.config.vocab_size };
  const texts = model.encode(probeTexts).map((ids) => [...ids]);
  await add("default", model.graph, size, texts);

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

/** One of every length. */
function randomSequences({ maxTokens, vocabulary }: { maxTokens: number; vocabulary: number }): number[][] {
  const random = randomNumbers(1);
  return Array.from({ length: maxTokens }, (_, i) =>
    Array.from({ length: i + 1 }, () => Math.floor(vocabulary * random())),
  );
}
