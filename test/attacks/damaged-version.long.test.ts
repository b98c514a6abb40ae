import { beforeAll, describe, expect, it, vi } from "vitest";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { readSafetensors } from "#sdk/artifact/safetensors.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import type { Engine } from "#sdk/runtime/engine/engine.ts";
import { loadArtifact } from "#sdk/runtime/load-published.ts";
import { dialects, routesOf } from "#sdk/serve/dialects/index.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import type { WritableStore } from "#sdk/storage/store.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { fakeJobs } from "../fixtures/fake-jobs.ts";
import { preparedTiny } from "../fixtures/prepared-tiny.ts";
import { type Files, filesOf, republished } from "../fixtures/republished.ts";
import { safetensorsFile } from "../fixtures/safetensors-file.ts";
import { randomNumbers } from "../fixtures/seeded.ts";

// A publisher has damaged a version, and published it with the hashes of the damaged files.

const MINUTE_MS = 60_000;
const TEXTS = ["the cat sat on the mat", "a"];
const [TOKENIZER, GOLDEN] = ["tokenizer.safetensors", "golden.safetensors"] as const;

const log = errorLog();
const realNow = Date.now;
let forwardMs = 0;
// An app takes its clock when it is made.
vi.spyOn(Date, "now").mockImplementation(() => realNow() + forwardMs);
const logged = () =>
  log.mock.calls
    .flat()
    .map((part) => `${(part as { stack?: string }).stack ?? part}`)
    .join("\n");

let sound: PublishableArtifact;
let files: Files;
const engines: Record<"edge" | "region", Engine> = {} as never;
beforeAll(async () => {
  sound = await openFolder(await preparedTiny(["edge", "regional-cpu"]));
  files = await filesOf(sound);
  engines.edge = await engineOnThisMachine("wasm");
  engines.region = await engineOnThisMachine("ort-node");
});

const tiers = ["edge", "region"] as const;
type Tier = (typeof tiers)[number];

function appOf(tier: Tier, models: WritableStore) {
  const options = { models, model: sound.manifest.name, engine: engines[tier], keys: ["key"], metrics: true } as const;
  const jobs = fakeJobs({ "jobs/news/input.jsonl": '{"id":1,"text":"a"}' });
  const app = tier === "edge" ? createEdgeApp({ ...options, jobs }) : createRegionApp(options);
  const headers = { authorization: "Bearer key", "content-type": "application/json" };
  return async (path: string, body?: unknown) =>
    app.request(path, { headers, ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }) });
}
type Ask = ReturnType<typeof appOf>;

/** Asks each route of a tier, and returns those that fail as no caller should see. */
async function failures(ask: Ask): Promise<string[]> {
  const found: string[] = [];
  for (const path of ["/ready", "/info", "/health", "/v1/models", "/metrics", "/openapi.json"]) {
    const { status } = await ask(path);
    if (status >= 500 && status !== 503) found.push(`${path} ${status}`);
  }
  for (const { path, example } of [...routesOf(dialects), { path: "/v1/jobs/news", example: {} }]) {
    const body = JSON.parse(JSON.stringify(example).replaceAll("bert-edge-mini", sound.manifest.name));
    const response = await ask(path, body);
    const text = await response.text();
    // text-embeddings-inference answers 424 for an unexpected fault.
    if (response.status === 500 || response.status === 424 || /unexpected/.test(text)) {
      found.push(`${path} ${response.status} ${text.slice(0, 200)}`);
    }
    if (response.status === 503 && response.headers.get("retry-after") === null)
      found.push(`${path} has no retry-after`);
  }
  return found;
}

const codeOf = async (response: Response) =>
  response.ok ? "answered" : ((await response.json()) as { error: { code: string } }).error.code;
const embed = async (ask: Ask, inputs: readonly string[] = TEXTS) => ask("/v1/embed", { inputs, truncate: true });

/** Files of a version, of which one is damaged. */
type Damage = () => readonly [file: string, bytes: Uint8Array<ArrayBuffer>];

const file = (name: string) => files.get(name) as Uint8Array<ArrayBuffer>;
const weightsOf = (tier: Tier) => sound.manifest.targets[tier === "edge" ? "edge" : "regional-cpu"]?.model as string;

const ways: Record<string, (bytes: Uint8Array<ArrayBuffer>, name: string) => Uint8Array<ArrayBuffer>> = {
  "is empty": () => new Uint8Array(),
  "ends early": (bytes) => bytes.slice(0, bytes.length >> 1),
  "lacks its last byte": (bytes) => bytes.slice(0, -1),
  "has only zeros": (bytes) => new Uint8Array(bytes.length),
  "has random bytes": (bytes) => {
    const random = randomNumbers(1);
    return Uint8Array.from(bytes, () => Math.floor(256 * random()));
  },
  "has random bytes behind its header": (bytes) => {
    const random = randomNumbers(2);
    const header = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    const start = header < bytes.length ? header : bytes.length >> 1;
    return bytes.map((byte, at) => (at < start ? byte : Math.floor(256 * random())));
  },
  "is another file": (_, name) => file(name === TOKENIZER ? weightsOf("edge") : TOKENIZER),
  "is deeply nested JSON": () => new TextEncoder().encode("[".repeat(200_000)),
};

/** Parses a packed tokenizer, changes its settings, and writes it again. */
function withSettings(change: (settings: Record<string, unknown>) => void): Uint8Array<ArrayBuffer> {
  const bytes = file(TOKENIZER);
  const { tensors, metadata } = readSafetensors(bytes, (fault) => new Error(fault));
  const settings = JSON.parse(metadata.get("settings") as string) as Record<string, unknown>;
  change(settings);
  const data = [...tensors].map(
    ([name, { dtype, shape, begin, end }]) => [name, { dtype, shape, data: bytes.slice(begin, end) }] as const,
  );
  return safetensorsFile(Object.fromEntries(data), {
    ...Object.fromEntries(metadata),
    settings: JSON.stringify(settings),
  });
}

/** Replaces a number of each tensor with float32 numbers, one tensor at a time. */
function withBadNumber(bad: number): (readonly [tensor: string, bytes: Uint8Array<ArrayBuffer>])[] {
  const bytes = file(weightsOf("edge"));
  const { tensors } = readSafetensors(bytes, (fault) => new Error(fault));
  return [...tensors]
    .filter(([, { dtype }]) => dtype === "F32")
    .map(([name, { begin, end }]) => {
      const changed = bytes.slice();
      new DataView(changed.buffer).setFloat32(begin + 4 * Math.floor((end - begin) / 8), bad, true);
      return [name, changed] as const;
    });
}

const named: Record<string, Damage> = {
  "100,000 special tokens": () => [
    TOKENIZER,
    withSettings((settings) => (settings["prefix"] = Array(100_000).fill(2))),
  ],
  "a special token beyond the vocabulary": () => [
    TOKENIZER,
    withSettings((settings) => (settings["suffix"] = [sound.manifest.vocabulary])),
  ],
  "an unknown token beyond the vocabulary": () => [
    TOKENIZER,
    withSettings((settings) => (settings["unknown"] = sound.manifest.vocabulary)),
  ],
};

/** Serves only a damaged version. Returns the outcome of a request for vectors. */
async function coldOutcome(tier: Tier, damaged: PublishableArtifact): Promise<string> {
  const store = memoryStore();
  await publish(damaged, store);
  const ask = appOf(tier, store);
  expect(await failures(ask)).toEqual([]);
  return codeOf(await embed(ask));
}

/** Publishes a damaged version while a sound one answers. Returns the version that answers then. */
async function versionAfter(tier: Tier, damaged: PublishableArtifact): Promise<string> {
  const store = memoryStore();
  const { version } = await publish(sound, store);
  const ask = appOf(tier, store);
  expect(await codeOf(await embed(ask))).toBe("answered");
  await publish(damaged, store);
  forwardMs += 2 * MINUTE_MS;
  await embed(ask);
  await expect.poll(logged).toContain("failed");
  const response = await embed(ask);
  expect(response.status).toBe(200);
  const { version: answering } = (await response.json()) as { version: string };
  return answering === version ? "the sound one" : answering;
}

async function expectRefused(tier: Tier, damaged: PublishableArtifact, reason: RegExp): Promise<void> {
  expect(await coldOutcome(tier, damaged)).toBe("model_unavailable");
  expect(logged()).toMatch(reason);
  log.mockClear();
  expect(await versionAfter(tier, damaged)).toBe("the sound one");
  expect(logged()).toMatch(reason);
}

const REASON = /tokenizer|model/;

describe.each(tiers)("a damaged version at the %s", (tier) => {
  it("a sound version is answered on all routes", async () => {
    expect(await coldOutcome(tier, sound)).toBe("answered");
    expect(log).not.toHaveBeenCalled();
  });

  it.each(["tokenizer", "weights"].flatMap((part) => Object.keys(ways).map((way) => [part, way] as const)))(
    "the file of the %s %s",
    async (part, way) => {
      const name = part === "tokenizer" ? TOKENIZER : weightsOf(tier);
      const bytes = ways[way]?.(file(name), name) as Uint8Array<ArrayBuffer>;
      await expectRefused(tier, await republished(sound, new Map([...files, [name, bytes]])), REASON);
    },
  );

  it.each(Object.entries(named))("a tokenizer with %s", async (_, damage) => {
    await expectRefused(tier, await republished(sound, new Map([...files, damage()])), /token/);
  });

  it.each(Object.keys(ways))("golden texts: the file %s", async (way) => {
    const bytes = ways[way]?.(file(GOLDEN), GOLDEN) as Uint8Array<ArrayBuffer>;
    expect(await coldOutcome(tier, await republished(sound, new Map([...files, [GOLDEN, bytes]])))).toBe("answered");
  });

  it.each([
    ["of megabytes", "a ".repeat(2_000_000), /must have at most 10000 characters/],
    ["with more tokens than the model takes", "a ".repeat(100), /The default prompt of tiny has at least \d+ tokens/],
  ])("a default prompt %s", async (_, query, reason) => {
    const damaged = await republished(sound, files, { prompts: { query }, defaultPrompt: "query" });
    await expectRefused(tier, damaged, reason);
  });

  it.each([{ dimensions: 16 }, { maxTokens: 8 }, { vocabulary: 49 }, { vocabulary: 51 }])(
    "a manifest that describes another model: %j",
    async (changes) => {
      const damaged = await republished(sound, files, changes);
      const store = memoryStore();
      await publish(damaged, store);
      expect(await failures(appOf(tier, store))).toEqual([]);
    },
  );
});

describe.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("weights with %d", (bad) => {
  it("are refused at the edge, in whichever tensor", async () => {
    const changed = withBadNumber(bad);
    expect(changed.length).toBeGreaterThanOrEqual(20);
    for (const [tensor, bytes] of changed) {
      const damaged = await republished(sound, new Map([...files, [weightsOf("edge"), bytes]]));
      const failed = loadArtifact(damaged, engines.edge);
      await expect(failed, tensor).rejects.toMatchObject({
        code: "model_invalid",
        message: expect.stringContaining(tensor),
      });
    }
    const [, bytes] = changed[0] as (typeof changed)[number];
    await expectRefused(
      "edge",
      await republished(sound, new Map([...files, [weightsOf("edge"), bytes]])),
      /NaN or infinite/,
    );
  });
});
