import * as ort from "onnxruntime-node";
import type { VectorHead } from "#sdk/runtime/engine/engine.ts";
import { type OrtEncoder, ortRun } from "#sdk/runtime/engine/ort-run.ts";
import { median } from "../run-tool.ts";

const [TEXTS, TOKENS, ROUNDS] = [64, 128, 5];

/** Shares of the time of a call that are spent outside of onnxruntime. */
export interface OutsideShare {
  /** The graph pools the hidden states. */
  readonly inGraph: number;
  /** Hidden states are copied out and pooled in JavaScript. */
  readonly inJavaScript: number;
}

export interface OutsideOptions {
  /** A model file with an output for vectors. */
  readonly file: Uint8Array<ArrayBuffer>;
  readonly head: VectorHead;
  /** Number of token ids. */
  readonly vocabulary: number;
  /** Execution provider. Default `cpu`. */
  readonly provider?: string | undefined;
}

/** Measures what 64 texts of 128 tokens, as one batch, cost outside of `session.run`. */
export async function outsideShare({
  file,
  head,
  vocabulary,
  provider = "cpu",
}: OutsideOptions): Promise<OutsideShare> {
  const session = await ort.InferenceSession.create(file, { executionProviders: [provider] });
  const texts = Array.from({ length: TEXTS }, (_, row) =>
    Int32Array.from({ length: TOKENS }, (_, i) => (row * 31 + i * 7919) % vocabulary),
  );
  async function share(outputNames: readonly string[]): Promise<number> {
    let insideMs = 0;
    const timed = {
      inputNames: session.inputNames,
      outputNames,
      async run(...args: Parameters<ort.InferenceSession["run"]>) {
        const start = performance.now();
        const results = await session.run(...args);
        insideMs += performance.now() - start;
        return results;
      },
    } as unknown as OrtEncoder["session"];
    const run = ortRun({ session: timed, Tensor: ort.Tensor });
    const shares: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      insideMs = 0;
      const start = performance.now();
      await run(texts, head);
      if (round > 0) shares.push(1 - insideMs / (performance.now() - start));
    }
    return median(shares);
  }
  try {
    return {
      inGraph: await share(session.outputNames),
      inJavaScript: await share(session.outputNames.slice(0, 1)),
    };
  } finally {
    await session.release();
  }
}
