import * as ort from "onnxruntime-node";
import { type OrtEncoder, ortRun } from "#sdk/runtime/engine/ort-run.ts";
import { median } from "../run-tool.ts";
import type { Forms } from "./forms.ts";

const [TEXTS, TOKENS, ROUNDS] = [64, 128, 5];

/** Shares of the time of a call that are spent outside of onnxruntime. */
export interface OutsideShare {
  /** The graph pools the hidden states. */
  readonly inGraph: number;
  /** Hidden states are copied out and pooled in JavaScript. */
  readonly inJavaScript: number;
}

/** Measures what 64 texts of 128 tokens, as one batch, cost outside of `session.run`. */
export async function outsideShare({ mixed, head, model }: Forms): Promise<OutsideShare> {
  const session = await ort.InferenceSession.create(mixed);
  const texts = Array.from({ length: TEXTS }, (_, row) =>
    Int32Array.from({ length: TOKENS }, (_, i) => (row * 31 + i * 7919) % model.config.vocabularySize),
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
