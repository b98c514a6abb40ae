/**
 * Compares the WebAssembly engine on one thread and on several threads, in one process, with the embedded model:
 *
 *     npm run bench:pool
 *
 * Times are medians of interleaved rounds. The machine's load is printed, because other programs take cores from the
 * threads. Vectors are compared with those of onnxruntime in float32.
 */
import { availableParallelism, loadavg } from "node:os";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { encodeProgram } from "#sdk/compile/lower/encode-program.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { precisions } from "#sdk/compile/quantize/precisions.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { command } from "./command.ts";
import { figuresOf } from "./figures.ts";
import { median } from "./run-tool.ts";
import { writeTinyModel } from "./tiny-model.ts";

const ROUNDS = 25;
const SHORT_ROUNDS = 2;
const HEAD = { pooling: "mean", normalize: true } as const;

await command({ usage: "npm run bench:pool --", options: {} }, async ({ values: { short }, folder, log }) => {
  const rounds = short ? SHORT_ROUNDS : ROUNDS;
  const { graph, config, maxTokens, encode } = await readTextModel(
    await describeModel(short ? await writeTinyModel(folder) : "models/default"),
  );
  const texts = encode(probeTexts);
  const float32 = await (await engineOnThisMachine("ort-node")).load(oneModel(encodeOnnx(graph)));
  const expected = await float32.run(texts, HEAD);
  await float32.release();
  await fuseGraph(graph);
  const size = { maxTokens, vocabulary: config.vocabularySize };
  const model = oneModel(await encodeProgram(await precisions["int8-edge"](graph)(), size));

  const threads = availableParallelism();
  const sessions = {
    "one thread": await (await engineOnThisMachine("wasm")).load(model),
    // One thread would make an engine without a pool.
    pool: await (await engineOnThisMachine("wasm", Math.max(2, threads))).load(model),
  };
  const requests = {
    "one of 20 tokens": texts.slice(3, 4),
    "all probe texts": texts,
    "all probe texts, four times": [texts, texts, texts, texts].flat(),
  };
  const engines = await Promise.all(
    Object.entries(sessions).map(async ([name, session]) => ({
      ...{ name, memoryMB: (session.memoryBytes() ?? 0) / 1e6 },
      ...parity(expected, await session.run(texts, HEAD)),
    })),
  );
  const results = [];
  for (const [name, request] of Object.entries(requests)) {
    log.stage(name);
    const times: { one: number[]; pool: number[] } = { one: [], pool: [] };
    for (let round = 0; round < rounds; round++) {
      times.one.push(await timed(sessions["one thread"], request));
      times.pool.push(await timed(sessions.pool, request));
    }
    const tokens = request.reduce((sum, { length }) => sum + length, 0);
    results.push({ name, tokens, oneMs: median(times.one), poolMs: median(times.pool) });
  }
  for (const session of Object.values(sessions)) await session.release();
  const load = loadavg()[0];
  return {
    figures: [
      ...engines.flatMap(({ name, memoryMB, minCosine }) =>
        figuresOf(name, { memory: [memoryMB, "MB"], "cosine with float32": [minCosine, "agreement"] }),
      ),
      ...results.flatMap(({ name, oneMs, poolMs }) =>
        figuresOf(name, {
          "one thread": [oneMs, "ms"],
          pool: [poolMs, "ms"],
          ratio: [oneMs / poolMs, "times as fast"],
        }),
      ),
    ],
    text: [
      `${threads} threads; load of the machine ${load?.toFixed(1)} on ${threads} cores`,
      ...results.map(
        ({ name, tokens, oneMs, poolMs }) =>
          `${name} (${tokens} tokens): ${oneMs.toFixed(1)} ms → ${poolMs.toFixed(1)} ms, ${(oneMs / poolMs).toFixed(2)} times as fast`,
      ),
      `memory: ${engines.map(({ memoryMB }) => `${memoryMB.toFixed(1)} MB`).join(" → ")} and the file once, ${(model.size("edge") / 1e6).toFixed(1)} MB`,
    ].join("\n"),
    details: { threads, load, engines, requests: results },
  };
});

async function timed({ run }: EngineSession, request: Parameters<EngineSession["run"]>[0]): Promise<number> {
  const start = performance.now();
  await run(request, HEAD);
  return performance.now() - start;
}
