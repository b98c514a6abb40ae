import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import type { KernelModules } from "#sdk/runtime/engine/wasm/index.ts";
import { wasmPoolEngine } from "#sdk/runtime/engine/wasm-pool/index.ts";

/** A worker crashes on sequences that start with this token id. */
export const CRASHING = 42;

export interface CrashOutcomes {
  /**
   * Outcome of each of five concurrent requests: "computed" or an error code. The second and the fourth request crash a
   * worker.
   */
  readonly meanwhile: readonly string[];
  readonly afterwards: readonly string[];
  /** Memory of the pool before and after all requests. */
  readonly bytes: readonly (number | undefined)[];
}

/**
 * Crashes workers of a pool, and returns the outcomes. This file must be bundled with crashing-web-worker.ts as the
 * worker.
 */
export async function crashOutcomes(kernels: KernelModules, model: Uint8Array<ArrayBuffer>): Promise<CrashOutcomes> {
  const session = await wasmPoolEngine({ ...kernels, threads: 2 }).load(oneModel(model));
  const before = session.memoryBytes();
  const meanwhile = await outcomesOf(session, [1, CRASHING, 2, CRASHING, 3]);
  const afterwards = await outcomesOf(session, [1, 2]);
  const bytes = [before, session.memoryBytes()];
  await session.release();
  return { meanwhile, afterwards, bytes };
}

const outcomesOf = (session: EngineSession, firsts: readonly number[]): Promise<string[]> =>
  Promise.all(
    firsts.map((first) =>
      session.run([Int32Array.of(first, 2, 3)]).then(
        () => "computed",
        ({ code }) => code,
      ),
    ),
  );
