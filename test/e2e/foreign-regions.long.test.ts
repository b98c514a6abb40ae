import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type EmbedManifest, sentenceEncoder } from "#sdk/artifact/manifest.ts";
import type { Measurements } from "#sdk/artifact/measurements.ts";
import { encoderWeights } from "#sdk/compile/checkpoint/encoder-weights.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { loadTokenizer } from "#sdk/runtime/tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { type Region, regionTier } from "#sdk/serve/region/region.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { openAiServer, teiServer, workersAi } from "../fixtures/foreign-servers.ts";
import { fusedGraph } from "../fixtures/fused-graph.ts";
import { defaultModel, preparedDefault } from "../fixtures/prepared.ts";
import { readCheckpoint } from "../fixtures/read-checkpoint.ts";
import { waitFor } from "../fixtures/wait-for.ts";

const log = errorLog();

/** Cosine of vectors from the edge (int8) and from a float32 region. `prepare` measures at least this on its probe texts. */
const EDGE_COSINE = 0.98;
/** Cosine of vectors that the same float32 model computed. */
const SAME_COSINE = 0.999_999;
const MODEL = "bert-edge-mini";
const KEY = "region-key";
const TEXT = "The river froze before the first snow came, and nobody crossed it until March.";

/** More texts than TEI and Workers AI take in a request. */
const manyTexts = Array.from({ length: 120 }, (_, i) => `The ${i}th bridge`);

/**
 * Times of a slow edge: more than 26 s for `manyTexts`. It learns that it is faster, by the factor 8 at most, so that no machine is
 * expected to answer them in 3 s. A region on a busy machine is.
 */
const slowEdge: Measurements = {
  edge: { latency: { base: 0, perToken: 40, perSquare: 0 } },
  "regional-cpu": { latency: { base: 0, perToken: 0.01, perSquare: 0 } },
};

const store = memoryStore(new Map());
const slowStore = memoryStore(new Map());
let manifest: EmbedManifest;
let tokenizer: Tokenizer;
let session: EngineSession;

/** The default model in float32, as another program serves it. */
const embedWith =
  (pooling: "mean" | "cls", damage: (vector: Float32Array) => void = () => {}) =>
  async (texts: readonly string[]) => {
    const sequences = texts.map((text) => tokenizer.encode(text, manifest.maxTokens).ids);
    const vectors = await session.run(sequences, { pooling, normalize: false });
    return vectors.map((vector) => {
      const own = Float32Array.from(vector);
      damage(own);
      return own;
    });
  };

beforeAll(async () => {
  const artifact = await openFolder(await preparedDefault());
  manifest = sentenceEncoder(artifact.manifest);
  await publish(artifact, store);
  await publish({ ...artifact, measurements: slowEdge }, slowStore);
  tokenizer = await loadTokenizer(manifest, artifact.read);
  const checkpoint = await readCheckpoint(defaultModel);
  const float32 = encodeOnnx(await fusedGraph(checkpoint.config, encoderWeights(checkpoint)));
  session = await ortNodeEngine({ threads: 1 }).load(oneModel(float32));
});
afterAll(() => session?.release());

const servers: { close(): unknown; closeAllConnections(): void }[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Makes an edge that has loaded its model. */
async function edgeWith(region: Region, models = store) {
  const app = createEdgeApp({ models, model: MODEL, engine: await engineOnThisMachine("wasm"), keys: ["k"], region });
  const ready = async () => (await app.fetch(new Request("http://edge.test/ready"))).status;
  await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 20_000 });
  return {
    ready,
    async embed(inputs: string | string[], headers: Record<string, string>) {
      const response = await app.fetch(
        new Request("http://edge.test/v1/embed", {
          method: "POST",
          headers: { authorization: "Bearer k", "content-type": "application/json", ...headers },
          body: JSON.stringify({ inputs }),
        }),
      );
      const body = (await response.json()) as {
        tier: string;
        version: string;
        embeddings: number[][];
        error?: unknown;
      };
      return { ...body, status: response.status, headers: response.headers };
    },
  };
}

const bound = "@cf/test/mini";
type Foreign = (pooling: "mean" | "cls", damage?: (vector: Float32Array) => void) => Promise<Region>;
const foreign: Record<string, Foreign> = {
  tei: async (...how) => regionTier({ dialect: "tei", url: await listen(teiServer(embedWith(...how), KEY)), key: KEY }),
  "openai with base64": async (...how) => {
    const url = await listen(openAiServer(embedWith(...how), { key: KEY, model: "mini", base64: true }));
    return regionTier({ dialect: "openai", url: `${url}/v1`, key: KEY, model: "mini" });
  },
  "openai with numbers": async (...how) => {
    const url = await listen(openAiServer(embedWith(...how), { key: KEY, model: "mini", base64: false }));
    return regionTier({ dialect: "openai", url: `${url}/v1`, key: KEY, model: "mini" });
  },
  "workers-ai": async (pooling, damage) => {
    const ai = workersAi((texts, pooling) => embedWith(pooling, damage)(texts), bound);
    return regionTier({ dialect: "workers-ai", ai, model: bound, pooling });
  },
};

const pinned = { "x-bert-edge-tier": "region" };

describe.each(Object.keys(foreign))("a region that speaks %s", (name) => {
  const start = foreign[name] as Foreign;

  it("answers when it serves the same model, with the edge's vectors", async () => {
    const { embed } = await edgeWith(await start("mean"));
    await waitFor(async () => expect(await embed(TEXT, pinned)).toMatchObject({ status: 200, tier: "region" }));
    const here = await embed(TEXT, { "x-bert-edge-tier": "edge" });
    const there = await embed(TEXT, pinned);
    expect(there.version).toBe(here.version);
    expect(there.headers.get("x-bert-edge-provider")).toBe(name.split(" ")[0]);
    const [a, b] = [here, there].map(({ embeddings }) => Float32Array.from(embeddings[0] as number[]));
    expect(cosine(a as Float32Array, b as Float32Array)).toBeGreaterThan(EDGE_COSINE);
    expect(Math.hypot(...(b as Float32Array))).toBeCloseTo(1, 5);
    expect(log).not.toHaveBeenCalled();
  });

  it.each<[string, Parameters<Foreign>]>([
    ["with another pooling", ["cls"]],
    ["that is another model", ["mean", (vector) => void vector.reverse()]],
  ])("is refused by its vectors when it serves a model %s", async (_, how) => {
    const { embed, ready } = await edgeWith(await start(...how));
    await ready();
    await waitFor(() =>
      expect(log).toHaveBeenCalledWith(expect.stringMatching(/cosine of -?0\.\d{4} with the model's own/)),
    );
    expect(await embed(TEXT, pinned)).toMatchObject({ status: 503, error: { code: "tier_unavailable" } });
    expect(await embed(TEXT, {})).toMatchObject({ status: 200, tier: "edge" });
  });
});

describe("a budget that only the region can keep", () => {
  it.each(Object.keys(foreign))("is answered by a region that speaks %s", async (name) => {
    const { embed } = await edgeWith(await (foreign[name] as Foreign)("mean"), slowStore);
    await waitFor(async () => expect(await embed(TEXT, pinned)).toMatchObject({ tier: "region" }));
    const { tier, headers, embeddings } = await embed(manyTexts, { "x-latency-budget-ms": "3000" });
    expect({ tier, reason: headers.get("x-bert-edge-reason") }).toEqual({ tier: "region", reason: "edge-over-budget" });
    const [last] = await embedWith("mean")(manyTexts.slice(-1));
    expect(embeddings).toHaveLength(manyTexts.length);
    expect(cosine(Float32Array.from(embeddings.at(-1) as number[]), last as Float32Array)).toBeGreaterThan(SAME_COSINE);
  });
});
