import { beforeAll, describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { fakeEngine, publishTiny, TINY, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { sentenceEncoder } from "../../artifact/manifest.ts";
import type { GoldenLine } from "../../compile/accuracy/golden/read-golden.ts";
import { startModel } from "../../runtime/start-model.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { encodeBytes } from "../../serve/contract/vector-text.ts";
import { createEdgeApp, type EdgeAppOptions } from "../../serve/edge-app.ts";
import { regionTier } from "../../serve/region/region.ts";
import { createRegionApp } from "../../serve/region-app.ts";
import type { EmbedResponse } from "../../serve/tasks/embed.ts";
import { memoryStore } from "../../storage/memory.ts";
import { type CheckReport, checkDeployment } from "./check-deployment.ts";
import type { PresentAnswers } from "./check-present.ts";
import type { ExpectedModel } from "./check-vectors.ts";

// A dead region is logged.
errorLog();

const KEY = "right";
const texts = ["The river froze before the first snow.", "to be", "A mill, a wheel, and water."];

let expected: ExpectedModel;
let artifact: PublishableArtifact;
beforeAll(async () => {
  artifact = await tinyArtifact();
  const model = await startModel(artifact, fakeEngine());
  const vectors = await model.call(embedCall(texts));
  await model.release();
  expected = { manifest: sentenceEncoder(artifact.manifest), version: artifact.version, golden: { texts, vectors } };
});

interface Deployment {
  /** Weights that are published. Other weights are another version. */
  weights?: string;
  name?: string;
  /** Another function of the token ids than the model's. */
  otherModel?: boolean;
  keys?: EdgeAppOptions<object>["keys"];
  region?: "alive" | "dead" | "none";
  cpuLimitMs?: number;
  onVector?: (vector: Float32Array) => void;
}

/** Serves the tiny model at an edge, with a region behind it. Returns the deployment as a `fetch`. */
async function deployed(how: Deployment = {}): Promise<typeof fetch> {
  const { weights, name = TINY.name, otherModel = false, keys = [KEY], region = "alive", onVector, cpuLimitMs } = how;
  const store = memoryStore();
  await publishTiny(store, weights, { name });
  const run = otherModel
    ? async (sequences: readonly ArrayLike<number>[]) =>
        sequences.map((ids) =>
          Float32Array.from({ length: ids.length * TINY.dimensions }, (_, i) => Math.cos(i * 7 + ids.length)),
        )
    : undefined;
  const regionApp = createRegionApp({
    models: store,
    model: name,
    engine: fakeEngine({ target: "regional-cpu", ...(run && { run }) }),
    keys: ["region"],
  });
  const askRegion: typeof fetch = async (input, init) => {
    if (region === "dead") throw new TypeError("fetch failed");
    return regionApp.fetch(new Request(input, init));
  };
  const app = createEdgeApp({
    models: store,
    model: name,
    engine: fakeEngine(run && { run }),
    keys,
    ...(cpuLimitMs !== undefined && { cpuLimitMs }),
    ...(region !== "none" && { region: regionTier({ url: "http://region.test", key: "region", fetch: askRegion }) }),
    log: false,
  });
  const request = () => new Request("http://test/ready");
  // An edge that finds its region loading does not ask it for a while.
  for (const each of [regionApp, app]) {
    await waitFor(async () => expect((await each.fetch(request(), {})).status).toBe(200));
  }
  return async (input, init) => {
    const response = await app.fetch(new Request(input, init), {});
    if (!onVector || !response.ok || !String(input).endsWith("/v1/embed")) return response;
    const body = (await response.json()) as EmbedResponse;
    const damaged = (body.embeddings as string[]).map((text) => {
      const vector = new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
      onVector(vector);
      return encodeBytes(vector);
    });
    return Response.json({ ...body, embeddings: damaged }, { headers: response.headers });
  };
}

const check = (send: typeof fetch, key = KEY, present?: PresentAnswers) =>
  checkDeployment({
    ...{ url: "http://edge.test/v1", key, timeoutMs: 5_000, maxRetries: 0, fetch: send },
    expected: { ...expected, present },
  });

const brokenOf = ({ findings }: CheckReport) =>
  findings.filter(({ level }) => level === "broken").map(({ check: name, where }) => `${name}: ${where}`);

describe("a deployment that works", () => {
  it("has no broken finding, and every check says something", async () => {
    const report = await check(await deployed());
    expect(brokenOf(report)).toEqual([]);
    expect(report).toMatchObject({ ok: true, model: `${TINY.name}@${expected.version}` });
    const names = new Set(report.findings.map((finding) => finding.check));
    expect([...names].sort()).toEqual(["budget", "clock", "cpu-limit", "keys", "model", "reached", "times", "vectors"]);
    expect(report.findings.find((finding) => finding.check === "budget")).toMatchObject({ level: "ok" });
    const tiers = report.findings.filter((finding) => finding.check === "vectors").map(({ where }) => where);
    expect(tiers).toEqual(["edge", "region"]);
  });

  it("needs no region", async () => {
    const report = await check(await deployed({ region: "none" }));
    expect(report.ok).toBe(true);
    expect(report.findings).toContainEqual(expect.objectContaining({ check: "region", level: "note" }));
  });

  it.each<[string, Deployment, string]>([
    ["some texts", { region: "none", cpuLimitMs: 1_700 }, "refuses 2 of 3 golden texts"],
    ["all texts, which the region answers", { cpuLimitMs: 10 }, "refuses all 3 golden texts"],
  ])("is not broken when the CPU limit refuses %s, and says how to change it", async (_, how, what) => {
    const report = await check(await deployed(how));
    expect(brokenOf(report)).toEqual([]);
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        check: "cpu-limit",
        level: "note",
        what: expect.stringContaining(what),
        fix: expect.stringContaining("set cpuLimitMs to 30000"),
      }),
    );
  });

  it("is one fault, with its fix, when the CPU limit refuses all texts and there is no region", async () => {
    const report = await check(await deployed({ region: "none", cpuLimitMs: 10 }));
    expect(brokenOf(report)).toEqual(["cpu-limit: edge"]);
    expect(report.findings.find(({ level }) => level === "broken")).toMatchObject({
      what: expect.stringMatching(
        /refuses all 3 golden texts\. .* and 10 ms are allowed, enough for no text\. It works, but/,
      ),
      fix: expect.stringContaining("add a region"),
    });
  });

  it("reports the time of a cold start", async () => {
    const send = await deployed();
    let isCold = true;
    const cold: typeof fetch = async (input, init) => {
      if (!isCold || !String(input).endsWith("/ready")) return send(input, init);
      isCold = false;
      return Response.json({ status: "loading" }, { status: 503 });
    };
    const { findings } = await check(cold);
    expect(findings).toContainEqual(expect.objectContaining({ check: "times", where: "first request", level: "ok" }));
  });
});

describe("the answers of the present system", () => {
  const lineOf = (line: number, vector: Float32Array<ArrayBuffer>): GoldenLine => ({
    ...{ line, input: texts[line - 1] ?? "" },
    expected: { kind: "vectors", rows: [vector] },
  });
  const present = (change: (vector: Float32Array<ArrayBuffer>) => Float32Array<ArrayBuffer>): PresentAnswers => ({
    ...{ file: "golden.jsonl", minimum: undefined },
    lines: expected.golden.vectors.map((vector, i) => lineOf(i + 1, i === 1 ? change(vector) : vector)),
  });
  const goldenOf = ({ findings }: CheckReport) => findings.filter((finding) => finding.check === "golden");

  it("are compared on every tier", async () => {
    const report = await check(
      await deployed(),
      KEY,
      present((vector) => vector),
    );
    expect(brokenOf(report)).toEqual([]);
    expect(goldenOf(report)).toMatchObject([
      { where: "edge", what: expect.stringContaining("3 of 3 lines of golden.jsonl have the vectors") },
      { where: "region", what: expect.stringContaining("Worst: 1.0000") },
    ]);
  });

  it("are a fault where a line has another vector, which is shown", async () => {
    const report = await check(
      await deployed({ region: "none" }),
      KEY,
      present((vector) => vector.toReversed()),
    );
    expect(brokenOf(report)).toEqual(["golden: edge"]);
    expect(goldenOf(report)[0]?.what).toMatch(/1 of 3 lines .* Worst: line 2, "to be": cosine/);
  });

  it("are not compared on lines that the CPU limit refuses", async () => {
    const report = await check(
      await deployed({ region: "none", cpuLimitMs: 1_700 }),
      KEY,
      present((vector) => vector),
    );
    expect(goldenOf(report)).toMatchObject([{ level: "ok", what: expect.stringContaining("1 of 3 lines") }]);
  });
});

describe("a broken deployment", () => {
  const nan = (vector: Float32Array) => void vector.fill(Number.NaN, 2, 3);

  it.each<[string, Deployment, string[]]>([
    ["another version", { weights: "older" }, ["model: edge", "model: region"]],
    ["a dead region", { region: "dead" }, ["region: region"]],
    ["no keys", { keys: false }, ["keys: a request with no key", "keys: a request with a wrong key"]],
    ["other vectors", { otherModel: true }, ["vectors: edge", "vectors: region"]],
    [
      "another model",
      { otherModel: true, name: "other" },
      ["model: edge", "vectors: edge", "model: region", "vectors: region"],
    ],
    ["NaN", { onVector: nan }, ["vectors: edge", "vectors: region"]],
    ["NaN, without a region", { onVector: nan, region: "none" }, ["vectors: edge"]],
  ])("is found: %s", async (_, how, broken) => {
    const report = await check(await deployed(how));
    expect(report.ok).toBe(false);
    expect(brokenOf(report)).toEqual(broken);
    for (const { level, fix } of report.findings) expect(level === "broken").toBe(fix !== undefined);
  });

  it("is one whose keys do not contain the given one", async () => {
    const report = await check(await deployed(), "unknown");
    expect(brokenOf(report)).toEqual(["reached: POST /v1/embed"]);
    expect(report.findings.find(({ level }) => level === "broken")?.what).toContain("HTTP 401 key_wrong");
  });

  it.each([
    ["something else", async () => new Response("<html>")],
    ["nothing", async () => Promise.reject(new TypeError("fetch failed"))],
  ])("is one where %s answers", async (_, send) => {
    expect(brokenOf(await check(send))).toEqual(["reached: GET /ready"]);
  });

  describe("whose model was not published at the last load", () => {
    /** Serves an empty store until `/ready` says that loading has failed. */
    const failing = async () => {
      const models = memoryStore();
      const app = createEdgeApp({ models, model: TINY.name, engine: fakeEngine(), keys: [KEY], log: false });
      const send: typeof fetch = async (input, init) => app.fetch(new Request(input, init), {});
      await waitFor(async () =>
        expect(await (await send("http://edge.test/ready")).json()).toMatchObject({ status: "failed" }),
      );
      return { models, send };
    };

    it("is one whose model is still missing", async () => {
      const { send } = await failing();
      const report = await check(send);
      expect(brokenOf(report)).toEqual(["reached: POST /v1/embed"]);
      expect(report.findings.find(({ level }) => level === "broken")?.what).toBe(
        `Its model ${TINY.name} cannot be loaded: model_not_published.`,
      );
    });

    it("works once the model is published", async () => {
      const { models, send } = await failing();
      await publishTiny(models);
      expect(brokenOf(await check(send))).toEqual([]);
    });
  });

  it("is one that leads to another address, which is not asked", async () => {
    const asked: (RequestInit | undefined)[] = [];
    const report = await check(async (_, init) => {
      asked.push(init);
      return new Response(null, { status: 302, headers: { location: "http://other.test" } });
    });
    expect(brokenOf(report)).toEqual(["reached: GET /ready"]);
    expect(report.findings[0]?.what).toContain("HTTP 302: it leads to another address");
    expect(asked).toEqual([expect.objectContaining({ redirect: "manual" })]);
  });

  it("is one whose body has no end", async () => {
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536));
    const report = await check(async () => new Response(new ReadableStream({ pull })));
    expect(brokenOf(report)).toEqual(["reached: GET /ready"]);
  });

  it("is one whose answers never come", async () => {
    const silent: typeof fetch = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const report = await checkDeployment({ url: "http://edge.test", key: KEY, timeoutMs: 20, expected, fetch: silent });
    expect(brokenOf(report)).toEqual(["reached: GET /ready"]);
  });
});
