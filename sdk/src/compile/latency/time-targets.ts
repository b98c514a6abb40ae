import type { Artifact } from "../../artifact/artifact.ts";
import type { Manifest, Target, TargetName } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import { sourceOf } from "../../runtime/model.ts";
import { type CostPoint, fitCost } from "./fit-cost.ts";
import { measureSideBySide } from "./measure.ts";

/** Cloudflare's limit of an isolate, JavaScript heap and WebAssembly together; other edges allow as much or more. */
const ISOLATE_BYTES = 128 * 1024 * 1024;

/** The targets this machine can time: a GPU's figures come from a GPU. */
export const timedTargets = ["edge", "regional-cpu"] as const satisfies readonly TargetName[];
export type TimedTarget = (typeof timedTargets)[number];

export interface CalibrateOptions {
  targets?: readonly TimedTarget[];
  /** Lengths to time. One that the model does not take becomes the longest that it takes. */
  tokens?: readonly number[];
  rounds?: number;
  onRound?: (round: number) => void;
}

export type Calibration = Partial<Record<TimedTarget, { points: CostPoint[] } & Required<Pick<Target, "cost">>>>;

/**
 * Times an artifact's CPU targets side by side, one thread each, and fits what they cost by length.
 *
 * @returns the points and fits, and the manifest with costs and the edge's memory filled in
 */
export async function calibrate(
  artifact: Artifact,
  { targets = timedTargets, tokens = [8, 16, 32, 64, 128, 256, 512], rounds = 7, onRound }: CalibrateOptions = {},
): Promise<{ calibration: Calibration; manifest: Manifest }> {
  const { manifest } = artifact;
  const sessions = new Map<TimedTarget, EngineSession>();
  try {
    for (const name of targets) {
      const target = manifest.targets[name];
      if (!target) continue;
      const engine = await engineOnThisMachine(target.engine);
      sessions.set(name, await engine.load(sourceOf(artifact, engine.name)));
    }
    const measured = await measureSideBySide(sessions, {
      tokens: [...new Set(tokens.map((length) => Math.min(length, manifest.maxTokens)))],
      rounds,
      vocabulary: manifest.vocabulary,
      ...(onRound && { onRound }),
    });
    const calibration: Calibration = {};
    const updated = structuredClone(manifest);
    for (const [name, session] of sessions) {
      const points = measured.get(name) ?? [];
      const target = updated.targets[name] as Target;
      target.cost = fitCost(points);
      calibration[name] = { points, cost: target.cost };
      // The longest text that is timed need not be the longest. onnxruntime-web is spared it: it keeps all scores at once.
      if (target.engine === "wasm") await session.run([new Int32Array(manifest.maxTokens)]);
      const memory = session.memoryBytes();
      // onnxruntime-web is given the model's bytes, which are beside its memory while it loads.
      const beside = target.engine === "ort-web" ? (manifest.files[target.model]?.size ?? 0) : 0;
      if (memory !== undefined) target.memory = isolateMemory(memory + beside);
    }
    return { calibration, manifest: updated };
  } finally {
    for (const session of sessions.values()) await session.release();
  }
}

/** @param peak of WebAssembly's memory as it was after the longest text that was run, and of what is beside it */
const isolateMemory = (peak: number): NonNullable<Target["memory"]> => ({
  peak,
  limit: ISOLATE_BYTES,
  fits: peak <= ISOLATE_BYTES,
});
