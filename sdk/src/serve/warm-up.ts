import type { Model } from "../runtime/model.ts";

/** Texts of a request, and tokens of each. Longer texts than the model takes are shortened. */
export type WarmUpShape = readonly [texts: number, tokens: number];

/**
 * Runs a new model before its first request, which would otherwise wait for memory, kernels and caches. Each shape runs once
 * alone, and then as often as the engine computes side by side.
 *
 * @throws the errors of `Model.run`
 */
export async function warmUp(
  { manifest, parallel, run }: Pick<Model, "manifest" | "parallel" | "run">,
  shapes: readonly WarmUpShape[],
): Promise<void> {
  for (const [texts, tokens] of shapes) {
    const sequences = Array.from({ length: texts }, () => new Int32Array(Math.min(tokens, manifest.maxTokens)));
    await run(sequences);
    await Promise.all(Array.from({ length: parallel }, () => run(sequences)));
  }
}
