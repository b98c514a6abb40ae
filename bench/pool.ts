/**
 * Compares the WebAssembly engine on one thread and on several threads, in one process, with the embedded model:
 *
 *     npm run bench:pool
 *
 * Times are medians of interleaved rounds. The machine's load is printed, because other programs take cores from the
 * threads.
 */
import { availableParallelism, loadavg } from "node:os";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { encodeProgram } from "#sdk/compile/lower/write-model-file.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { precisions } from "#sdk/compile/quantize/precisions.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { wasmEngine } from "#sdk/runtime/engine/wasm/index.ts";
import { wasmPoolEngine } from "#sdk/runtime/engine/wasm-pool/node/index.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { median } from "./run-tool.ts";

const ROUNDS = 25;

const { graph, config, maxTokens, encode } = await readTextModel(await describeModel("models/default"));
await fuseGraph(graph);
const size = { maxTokens, vocabulary: config.vocabularySize };
const model = oneModel(await encodeProgram(await precisions["int8-edge"](graph)(), size));
const kernels = { relaxed: await compiledKernels("relaxed"), simd: await compiledKernels("simd") };

const threads = availableParallelism();
const alone = await wasmEngine(kernels).load(model);
const pool = await wasmPoolEngine({ ...kernels, threads }).load(model);
const head = { pooling: "mean", normalize: true } as const;
const texts = encode(probeTexts);
const requests = {
  "one of 20 tokens": texts.slice(3, 4),
  "all probe texts": texts,
  "all probe texts, four times": [texts, texts, texts, texts].flat(),
};

async function timed({ run }: EngineSession, request: (typeof requests)[keyof typeof requests]): Promise<number> {
  const start = performance.now();
  await run(request, head);
  return performance.now() - start;
}

console.log(`${threads} threads; load of the machine ${loadavg()[0]?.toFixed(1)} on ${threads} cores`);
for (const [name, request] of Object.entries(requests)) {
  const times: { alone: number[]; pool: number[] } = { alone: [], pool: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.alone.push(await timed(alone, request));
    times.pool.push(await timed(pool, request));
  }
  const [one, many] = [median(times.alone), median(times.pool)];
  const tokens = request.reduce((sum, { length }) => sum + length, 0);
  const ms = `${one.toFixed(1)} ms → ${many.toFixed(1)} ms`;
  console.log(`${name} (${tokens} tokens): ${ms}, ${(one / many).toFixed(2)} times as fast`);
}
const megabytes = ({ memoryBytes }: EngineSession) => ((memoryBytes() ?? 0) / 1e6).toFixed(1);
console.log(
  `memory: ${megabytes(alone)} MB → ${megabytes(pool)} MB and the file once, ${(model.size("edge") / 1e6).toFixed(1)} MB`,
);
await pool.release();
