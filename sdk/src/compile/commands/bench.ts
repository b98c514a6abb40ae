import { dirname, resolve } from "node:path";
import type { Artifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest, Target } from "../../artifact/manifest.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { assertWritableFolder } from "../files/folders.ts";
import { type TargetTimes, type TimedTarget, timedTargets, timeTargets } from "../latency/time-targets.ts";
import { writeMeasurements } from "../pack/write-artifact.ts";
import type { RunOptions } from "../stages/stage.ts";

export interface BenchOptions extends RunOptions {
  /**
   * Path of an artifact folder, or an open artifact. The folder's measurements are replaced (see `BenchReport.stored`).
   * An open artifact does not change.
   */
  artifact: string | Artifact;
  /** Engines to time. Default: the engines of the artifact's CPU targets. */
  engines?: readonly Target["engine"][] | undefined;
  /** Sequence lengths to time. */
  tokens?: readonly number[];
  /** Number of timed rounds; the result is the median of the rounds. Default 15. */
  rounds?: number;
}

export interface BenchReport extends TargetTimes {
  readonly manifest: Manifest;
  readonly rounds: number;
  /**
   * Whether the folder's measurements were replaced. This needs at least three different sequence lengths. The shortest
   * must have at most 16 tokens, the longest at least half of the model's maximum.
   */
  readonly stored: boolean;
}

/**
 * Times an artifact's CPU targets on this machine. Every round times each target once at every length. The artifact's
 * version does not change.
 *
 * @throws BertEdgeError `engine_mismatch` for an engine without a CPU target, `out_unwritable`, `package_missing`,
 *   `aborted`, and the errors of `openFolder` and `Artifact.read`
 */
export async function bench(options: BenchOptions): Promise<BenchReport> {
  const { tokens = [8, 16, 32, 64, 128, 256], rounds = 15, onProgress, signal } = options;
  const folder = typeof options.artifact === "string" ? options.artifact : undefined;
  const artifact = typeof options.artifact === "string" ? await openFolder(options.artifact) : options.artifact;
  const { manifest } = artifact;
  const targets = options.engines?.map((engine) => targetOf(manifest, engine));
  const message = `time ${manifest.name}`;
  const onRound = (round: number) => onProgress?.({ stage: "time", message, fraction: round / rounds });
  const coversLengths =
    new Set(tokens).size >= 3 && Math.min(...tokens) <= 16 && Math.max(...tokens) >= manifest.maxTokens / 2;
  const stored = folder !== undefined && coversLengths;
  if (stored) for (const written of [folder, dirname(resolve(folder))]) await assertWritableFolder(written);
  const times = await timeTargets(artifact, { targets, tokens, rounds, onRound, signal });
  if (stored) await writeMeasurements(folder, times.measurements);
  return { manifest, rounds, ...times, stored };
}

/** @throws BertEdgeError `engine_mismatch` */
function targetOf({ name: model, targets }: Manifest, engine: Target["engine"]): TimedTarget {
  const timed = timedTargets.filter((name) => targets[name]);
  const target = timed.find((name) => targets[name]?.engine === engine);
  if (target) return target;
  throw new BertEdgeError("engine_mismatch", `${model} has no CPU target for the engine ${engine}.`, {
    hint: `Choose from the artifact's engines: ${timed.map((name) => targets[name]?.engine).join(", ")}.`,
  });
}
