import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { encodeProgram } from "#sdk/compile/lower/encode-program.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { precisions } from "#sdk/compile/quantize/precisions.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { edgeFile } from "../fixtures/edge-file.ts";
import { pagedFile } from "../fixtures/paged-file.ts";
import {
  randomSequences,
  TINY_EDGE,
  type TinyEncoder,
  tinyEdgeFile,
  tinyEncoders,
} from "../fixtures/tiny-edge-file.ts";
import type { Case } from "./digests.ts";

const root = join(import.meta.dirname, "../..");

/** Every fifth text, the longest among them, is enough for models that differ from `default` in a few steps. */
const EVERY = 5;

/**
 * Writes the files for all runtimes: models, `cases.json`, kernels and bundles. Every runtime runs `digests.mjs`.
 * `pool/` contains the engine with several Web Workers; `crash/` contains the same engine with workers that can crash.
 */
export async function writeCases(folder: string): Promise<void> {
  const cases: Record<string, Case> = {};
  const add = async (name: string, file: Uint8Array, sequences: readonly TokenIds[], pages?: Uint8Array) => {
    await writeFile(join(folder, name), file);
    cases[name] = { sequences: sequences.map((ids) => [...ids]), ...(pages && { pages: `${name}.pages` }) };
    if (pages) await writeFile(join(folder, `${name}.pages`), pages);
  };
  for (const name of Object.keys(tinyEncoders) as TinyEncoder[]) {
    await add(name, await tinyEdgeFile(name), randomSequences(TINY_EDGE));
  }
  const { graph, config, maxTokens, encode } = await readTextModel(await describeModel(join(root, "models/default")));
  await fuseGraph(graph);
  const size = { maxTokens, vocabulary: config.vocabularySize };
  const probes = encode(probeTexts);
  await add("default", await edgeFile(graph, size), probes);
  const few = probes.filter((_, i) => i % EVERY === 0);
  // Weights of 4 bits are expanded once, or in each call.
  const inFourBits = await precisions["int8-edge"](graph, { weightBits: 4 })();
  await add("default-4-bits", await encodeProgram(inFourBits, size), few);
  await add("default-4-bits-each-call", await encodeProgram(inFourBits, { ...size, maxMemory: 1 }), few);

  // Three rows of four are in pages.
  const paging = { resident: size.vocabulary >> 2, cached: size.vocabulary >> 2 };
  const { file, pages, whole } = await pagedFile(graph, size, { tableBits: 4, ...paging });
  await add("default-4-bits-table", whole, few);
  await add("default-in-pages", file, few, pages);

  await writeFile(join(folder, "cases.json"), JSON.stringify(cases));
  for (const kernels of ["relaxed.wasm", "simd.wasm"]) {
    await copyFile(join(root, "sdk/dist/kernels", kernels), join(folder, kernels));
  }
  const options = { bundle: true, format: "esm", logLevel: "error" } as const;
  await build({
    ...options,
    entryPoints: [join(import.meta.dirname, "digests.ts")],
    outfile: join(folder, "digests.mjs"),
  });
  const pool = join(root, "sdk/src/runtime/engine/wasm-pool");
  const here = import.meta.dirname;
  const workers = {
    pool: { index: join(pool, "index.ts"), worker: join(pool, "worker.ts") },
    crash: { index: join(here, "crash-outcomes.ts"), worker: join(here, "crashing-web-worker.ts") },
  };
  for (const [name, entryPoints] of Object.entries(workers)) {
    await build({ ...options, entryPoints, outdir: join(folder, name) });
  }
}
