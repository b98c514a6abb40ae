import { readFileSync } from "node:fs";
import type { Artifact } from "../../sdk/src/artifact/artifact.ts";
import { describeFiles } from "../../sdk/src/artifact/describe-file.ts";
import { versionOf } from "../../sdk/src/artifact/keys.ts";
import { type EmbedManifest, MANIFEST_FORMAT, type TargetName } from "../../sdk/src/artifact/manifest.ts";
import { sha256Hex } from "../../sdk/src/artifact/sha256.ts";
import type { Engine, EngineSession, TokenIds } from "../../sdk/src/runtime/engine/engine.ts";
import { withHead } from "../../sdk/src/runtime/engine/with-head.ts";
import { memoryStore } from "../../sdk/src/storage/memory.ts";
import { publish } from "../../sdk/src/storage/publish.ts";
import type { WritableStore } from "../../sdk/src/storage/store.ts";
import { storedArtifact } from "../../sdk/src/storage/stored-artifact.ts";

/** The model that tests serve: the real tokenizer, and an engine that makes states of token ids. */
export const TINY = { name: "tiny", dimensions: 8, maxTokens: 16 } as const;

/** What it "costs": far from what anything here really takes, so no decision hangs on the machine's speed. */
const EDGE_COST = { base: 1_000, perToken: 100, perSquare: 0 };
const REGION_COST = { base: 10, perToken: 1, perSquare: 0 };

const modelFile = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../models/default/${name}`, import.meta.url)));
const tokenizerJson = modelFile("tokenizer.json");
const tokenizerConfig = modelFile("tokenizer_config.json");

/** @param weights the bytes of the model file: other bytes make another version */
export async function tinyArtifact(
  weights = "tiny",
  changes: Partial<EmbedManifest> = {},
): Promise<Artifact & { manifestBytes: Uint8Array<ArrayBuffer> }> {
  const files = new Map([
    ["tokenizer.json", tokenizerJson],
    ["tokenizer_config.json", tokenizerConfig],
    ["model.onnx", new TextEncoder().encode(weights)],
  ]);
  const target = {
    precision: "int8",
    model: "model.onnx",
    parity: { meanCosine: 1, minCosine: 1, maxAbsDiff: 0, cases: 1 },
  } as const;
  const manifest: EmbedManifest = {
    format: MANIFEST_FORMAT,
    name: TINY.name,
    task: "embed",
    pooling: "mean",
    normalize: true,
    dimensions: TINY.dimensions,
    maxTokens: TINY.maxTokens,
    vocabulary: 30_522,
    tokenizer: { kind: "json", json: "tokenizer.json", config: "tokenizer_config.json" },
    files: await describeFiles(files),
    targets: {
      edge: { ...target, engine: "ort-web", cost: EDGE_COST },
      "regional-cpu": { ...target, engine: "ort-node", cost: REGION_COST },
    },
    ...changes,
  };
  const manifestBytes = new TextEncoder().encode(JSON.stringify(manifest));
  const version = versionOf(await sha256Hex(manifestBytes));
  return { ...storedArtifact(memoryStore(files), { manifest, version }), manifestBytes };
}

/** A store that holds the model; publish other weights to it for a newer version. */
export async function tinyStore(): Promise<WritableStore> {
  const store = memoryStore();
  await publishTiny(store);
  return store;
}

/** @returns the version that is current from now on */
export async function publishTiny(
  store: WritableStore,
  weights?: string,
  changes?: Partial<EmbedManifest>,
): Promise<string> {
  return (await publish(await tinyArtifact(weights, changes), store)).version;
}

/** Token states that depend on every id and its place: row-major [tokens, dimensions], values between -1 and 1. */
export const statesOf = (ids: TokenIds): Float32Array =>
  Float32Array.from({ length: ids.length * TINY.dimensions }, (_, i) => {
    const row = Math.floor(i / TINY.dimensions);
    return Math.sin((ids[row] as number) * ((i % TINY.dimensions) + 1) + row);
  });

interface FakeSession extends EngineSession {
  /** The model file it was loaded from. */
  readonly weights: string;
  readonly runs: number;
  readonly releases: number;
}

export interface FakeEngine extends Engine {
  /** Every session that was loaded, in order. */
  readonly sessions: readonly FakeSession[];
}

/** What a test may make go otherwise. */
export interface FakeEngineOptions {
  target?: TargetName;
  /** Called before a session is made of the model file. */
  onLoad?: (weights: string) => void | Promise<void>;
  /** When the rest of a model comes that answers before. */
  complete?: (weights: string) => Promise<void> | undefined;
  /** Until what sequences need has come. */
  ready?: () => Promise<void>;
  run?: (sequences: readonly TokenIds[], session: FakeSession) => Promise<readonly Float32Array[]>;
  onRelease?: () => void | Promise<void>;
}

export function fakeEngine({
  target = "edge",
  onLoad,
  complete,
  ready,
  run,
  onRelease,
}: FakeEngineOptions = {}): FakeEngine {
  const sessions: FakeSession[] = [];
  return {
    name: target === "edge" ? "ort-web" : "ort-node",
    sessions,
    async load(source) {
      const weights = new TextDecoder().decode(await source.read(target));
      await onLoad?.(weights);
      const counts = { runs: 0, releases: 0 };
      const session: FakeSession = {
        weights,
        target,
        provider: "fake",
        complete: complete?.(weights),
        ready,
        get runs() {
          return counts.runs;
        },
        get releases() {
          return counts.releases;
        },
        run: withHead(async (sequences) => {
          counts.runs++;
          if (counts.releases > 0) throw new Error("the session is used after its release");
          const states = run ? await run(sequences, session) : sequences.map(statesOf);
          return states.map((rows) => Float32Array.from(rows));
        }),
        memoryBytes: () => undefined,
        async release() {
          counts.releases++;
          await onRelease?.();
        },
      };
      sessions.push(session);
      return session;
    },
  };
}

/** A promise to be settled by the test. */
export const gate = (): PromiseWithResolvers<void> => Promise.withResolvers<void>();

/** Collects background work, as a platform's `waitUntil` does, so that a test can wait for it. */
export function backgroundWork(): {
  background: (work: Promise<unknown>) => void;
  settled: () => Promise<void>;
  size: () => number;
} {
  const work: Promise<unknown>[] = [];
  return {
    background: (promise) => void work.push(promise),
    settled: async () => void (await Promise.allSettled(work)),
    size: () => work.length,
  };
}
