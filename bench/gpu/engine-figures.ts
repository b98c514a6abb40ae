import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import type { TargetName } from "#sdk/artifact/manifest.ts";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { vectorHead } from "#sdk/runtime/tasks/task-output.ts";
import { loadTokenizer } from "#sdk/runtime/tokenizer/load-tokenizer.ts";
import { outsideShare } from "../region/outside-share.ts";
import { median } from "../run-tool.ts";

const [TEXTS, TOKENS, WARM_UP] = [64, 128, 3];

/** Times of the region's engine. */
export interface EngineFigures {
  /** Milliseconds of one text of 128 tokens. */
  readonly oneMs: number;
  /** Milliseconds of 64 texts of 128 tokens. */
  readonly batchMs: number;
  /** Share of the time of 64 texts of 128 tokens that is spent outside of onnxruntime. */
  readonly outside: number;
  /** Smallest cosine of the vectors of the probe texts with those of float32. */
  readonly minCosine: number;
}

interface EngineOptions {
  readonly provider: "cuda" | "cpu";
  readonly target: TargetName;
  readonly rounds: number;
  /** Vectors of the probe texts in float32. */
  readonly expected: readonly Float32Array[];
}

/** Measures the engine with the settings of `functions/region.ts`, without HTTP. */
export async function engineFigures(
  { manifest, read }: PublishableArtifact,
  { provider, target, rounds, expected }: EngineOptions,
): Promise<EngineFigures> {
  const head = vectorHead(manifest) as NonNullable<ReturnType<typeof vectorHead>>;
  const file = await read(manifest.targets[target]?.model as string);
  const { vocabulary } = manifest;
  const { inGraph } = await outsideShare({ file, head, vocabulary, provider });
  const session = await ortNodeEngine({ providers: [provider], sessions: 1 }).load(oneModel(file));
  try {
    const tokenizer = await loadTokenizer(manifest, read);
    const probes = probeTexts.map((text) => tokenizer.encode(text, manifest.maxTokens).ids);
    const { minCosine } = parity(expected, await session.run(probes, head));
    const texts = Array.from({ length: TEXTS }, (_, row) =>
      Int32Array.from({ length: TOKENS }, (_, i) => (row * 31 + i * 7919) % vocabulary),
    );
    const times = { one: [] as number[], all: [] as number[] };
    for (let round = -WARM_UP; round < rounds; round++) {
      for (const [name, batch] of [["one", texts.slice(0, 1)] as const, ["all", texts] as const]) {
        const start = performance.now();
        await session.run(batch, head);
        if (round >= 0) times[name].push(performance.now() - start);
      }
    }
    return { oneMs: median(times.one), batchMs: median(times.all), outside: inGraph, minCosine };
  } finally {
    await session.release();
  }
}
