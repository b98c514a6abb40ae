import { mkdir, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import type { Measurements } from "#sdk/artifact/measurements.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { loadArtifact } from "#sdk/runtime/load-published.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { storedArtifact } from "#sdk/storage/stored-artifact.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import type { Outcome } from "./fault.ts";

/** The name of the model that is served. */
export const NAME = "tiny";

/** Texts, of which each request sends one. */
export const texts = ["where is the house?", "the cat sat on the mat", "a"];

/** Times that send every request with a budget of `BUDGET_MS` to the region. */
const slowEdge: Measurements = {
  edge: { latency: { base: 5_000, perToken: 100, perSquare: 0 } },
  "regional-cpu": { latency: { base: 1, perToken: 0.01, perSquare: 0 } },
};
export const BUDGET_MS = 400;

/** Two versions of a model that engines can load, with the vectors that each computes. */
export interface TwoVersions {
  readonly old: PublishableArtifact;
  readonly new: PublishableArtifact;
  /** Compares an answer of `/v1/embed` with the vector of the version and the tier that it names. */
  outcomeOf(response: Response, text: string): Promise<Outcome>;
}

const engines = { edge: "wasm", region: "ort-node" } as const;

let prepared: Promise<TwoVersions> | undefined;

/** Prepares both versions once in this process. */
export function twoVersions(): Promise<TwoVersions> {
  prepared ??= prepareBoth();
  return prepared;
}

async function prepareBoth(): Promise<TwoVersions> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-two-versions-"));
  const artifacts: PublishableArtifact[] = [];
  /** Vectors as bits, by version, tier and text. */
  const vectors = new Map<string, string>();
  for (const seed of [1, 2]) {
    const [checkpoint, out] = [join(folder.path, `checkpoint-${seed}`), join(folder.path, `artifact-${seed}`)];
    await mkdir(checkpoint);
    await writePreparableCheckpoint(checkpoint, { seed });
    await prepare({ model: checkpoint, out, name: NAME, targets: ["edge", "regional-cpu"], timingRounds: 1 });
    const artifact = await inMemory(await openFolder(out));
    artifacts.push(artifact);
    for (const [tier, engine] of Object.entries(engines)) {
      const model = await loadArtifact(artifact, await engineOnThisMachine(engine));
      for (const text of texts) {
        const [vector = []] = (await model.embed(text)).embeddings;
        vectors.set(`${artifact.version} ${tier} ${text}`, [...vector].join());
      }
      await model[Symbol.asyncDispose]();
    }
  }
  const [old, next] = artifacts as [PublishableArtifact, PublishableArtifact];
  return {
    old,
    new: next,
    async outcomeOf(response, text) {
      const body = await response.text();
      const { error, version, embeddings } = parsed(body);
      if (!response.ok)
        return error && error.code !== "internal" ? error : { wrong: `HTTP ${response.status} ${body}` };
      const tier = response.headers.get("x-bert-edge-tier");
      const expected = vectors.get(`${version} ${tier} ${text}`);
      if (expected === undefined || expected !== embeddings?.[0]?.map(Math.fround).join()) {
        return { wrong: `no version answers ${text} like this at ${tier}: ${body}` };
      }
      return version === next.version ? "new" : "old";
    },
  };
}

/** Reads all files of an artifact, whose folder can then be removed. */
async function inMemory(artifact: PublishableArtifact): Promise<PublishableArtifact> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const name of Object.keys(artifact.manifest.files)) files.set(name, await artifact.read(name));
  return { ...artifact, ...storedArtifact(memoryStore(files), { ...artifact, measurements: slowEdge }) };
}

interface Answer {
  readonly error?: { readonly code: string };
  readonly version?: string;
  readonly embeddings?: number[][];
}

function parsed(body: string): Answer {
  try {
    return JSON.parse(body) as Answer;
  } catch {
    return {};
  }
}
