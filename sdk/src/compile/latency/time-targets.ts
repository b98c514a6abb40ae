import type { Artifact } from "../../artifact/artifact.ts";
import type { Target, TargetName } from "../../artifact/manifest.ts";
import type { Measurements, MemoryUse } from "../../artifact/measurements.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import type { Engine, EngineSession, TokenIds } from "../../runtime/engine/engine.ts";
import { modelFilesOf } from "../../runtime/model-files.ts";
import { throwIfAborted } from "../subprocess/aborted.ts";
import { fitLatency, type LatencyPoint } from "./fit-latency.ts";
import { isolateMemory } from "./platforms/platforms.ts";

/** The targets that run on a CPU. Any machine can time these targets. */
export const timedTargets = ["edge", "regional-cpu"] as const satisfies readonly TargetName[];
export type TimedTarget = (typeof timedTargets)[number];

interface MeasureTargetsOptions {
  readonly targets?: readonly TimedTarget[] | undefined;
  /** Sequence lengths to time. A length beyond the model's maximum becomes the maximum. */
  readonly tokens?: readonly number[] | undefined;
  /** Number of timed rounds. Default 7. */
  readonly rounds?: number | undefined;
  /** Called after each round. Round 0 is the warm-up and is not timed. */
  readonly onRound?: ((round: number, rounds: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TargetTimes {
  readonly points: Readonly<Partial<Record<TimedTarget, LatencyPoint[]>>>;
  /** The artifact's measurements, with new ones for the timed targets. */
  readonly measurements: Measurements;
}

/**
 * Times an artifact's CPU targets side by side, each on one thread. Fits each target's time as a function of the
 * length.
 *
 * @throws BertEdgeError `aborted`, `package_missing`, `engine_failed`, and the errors of `Artifact.read`
 */
export async function timeTargets(
  artifact: Artifact,
  { targets = timedTargets, tokens = TOKENS, rounds = 7, onRound, signal }: MeasureTargetsOptions = {},
): Promise<TargetTimes> {
  const { manifest } = artifact;
  const engines = new Map<TimedTarget, Engine>();
  for (const name of targets) {
    const target = manifest.targets[name];
    if (target) engines.set(name, await engineOnThisMachine(target.engine));
  }
  const sessions = new Map<TimedTarget, EngineSession>();
  try {
    for (const [name, engine] of engines) sessions.set(name, await engine.load(modelFilesOf(artifact, engine.name)));
    const times = await timeSideBySide(sessions, {
      tokens: [...new Set(tokens.map((length) => Math.min(length, manifest.maxTokens)))],
      rounds,
      vocabulary: manifest.vocabulary,
      onRound,
      signal,
    });
    const measurements: Measurements = { ...artifact.measurements };
    for (const [name, session] of sessions) {
      const target = manifest.targets[name] as Target;
      const memory = await memoryUse(session, target, manifest);
      measurements[name] = { latency: fitLatency(times.get(name) ?? []), ...(memory && { memory }) };
    }
    return { points: Object.fromEntries(times), measurements };
  } finally {
    for (const session of sessions.values()) await session.release();
  }
}

const TOKENS = [8, 16, 32, 64, 128, 256, 512];

/** Returns the peak memory of a session that has run; undefined for engines that do not report it. */
async function memoryUse(
  session: EngineSession,
  { engine, model }: Target,
  { files, maxTokens }: Artifact["manifest"],
): Promise<MemoryUse | undefined> {
  // The longest timed text may be shorter than the model's maximum, so the engine wasm also runs a text of maximum length.
  // onnxruntime-web does not run such a text: its memory would have to hold the attention scores of all heads at once.
  if (engine === "wasm") await session.run([new Int32Array(maxTokens)]);
  const bytes = session.memoryBytes();
  if (bytes === undefined) return undefined;
  // onnxruntime-web copies the model into its memory, so two copies exist while it loads.
  const peak = bytes + (engine === "ort-web" ? (files[model]?.size ?? 0) : 0);
  const limit = isolateMemory.value;
  return { peak, limit, fits: peak <= limit };
}

interface SideBySideOptions {
  /** Sequence lengths to time. */
  readonly tokens: readonly number[];
  /** Number of timed rounds. Each round times every engine once at every length. */
  readonly rounds: number;
  readonly vocabulary: number;
  /** Called after each round. Round 0 is the warm-up and is not timed. */
  readonly onRound?: ((round: number, rounds: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Times sessions side by side. Every round runs all sessions at all lengths, so that a change in the machine's speed
 * affects all of them.
 *
 * @returns for every session, one point per length with the median time over the rounds
 * @throws BertEdgeError `aborted`
 */
export async function timeSideBySide<Name>(
  sessions: ReadonlyMap<Name, EngineSession>,
  { tokens, rounds, vocabulary, onRound, signal }: SideBySideOptions,
): Promise<Map<Name, LatencyPoint[]>> {
  const samples = new Map(
    [...sessions.keys()].map((name) => [name, new Map<number, number[]>(tokens.map((n) => [n, []]))]),
  );
  // Round 0 warms up and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const length of tokens) {
      throwIfAborted(signal);
      const input = [sampleSequence(length, vocabulary)];
      for (const [name, session] of sessions) {
        const start = performance.now();
        await session.run(input);
        const ms = performance.now() - start;
        if (round > 0) samples.get(name)?.get(length)?.push(ms);
      }
    }
    onRound?.(round, rounds);
  }
  const points = (times: Map<number, number[]>) =>
    [...times].map(([length, ms]) => ({ tokens: length, ms: median(ms) }));
  return new Map([...samples].map(([name, times]) => [name, points(times)]));
}

/**
 * Returns token ids spread over the vocabulary. A text of equal ids would run faster than a real text, because its only
 * embedding stays in the cache.
 */
const sampleSequence = (length: number, vocabulary: number): TokenIds =>
  Int32Array.from({ length }, (_, i) => (i * 7919 + length) % vocabulary);

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
