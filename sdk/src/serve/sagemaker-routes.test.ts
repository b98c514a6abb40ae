import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { fakeEngine, latch, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import { createRegionApp, type RegionAppOptions } from "./region-app.ts";

errorLog();

const ATTRIBUTES = "x-amzn-sagemaker-custom-attributes";

async function setUp(options: Partial<RegionAppOptions> = {}) {
  const engine = fakeEngine({ target: "regional-cpu" });
  const models = await tinyStore();
  return createRegionApp({ models, model: TINY.name, engine, keys: ["k"], sagemaker: true, ...options });
}

const invoke = (body: object | string, attributes?: string) =>
  new Request("http://container.local/invocations", {
    method: "POST",
    headers: { "content-type": "application/json", ...(attributes !== undefined && { [ATTRIBUTES]: attributes }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("GET /ping", () => {
  it("answers 503 until the model is loaded, and then 200", async () => {
    const loaded = latch();
    const engine = fakeEngine({ target: "regional-cpu", onLoad: () => loaded.promise });
    const app = await setUp({ engine });
    expect((await app.request("/ping")).status).toBe(503);
    loaded.resolve();
    await waitFor(async () => expect((await app.request("/ping")).status).toBe(200));
  });
});

describe("POST /invocations", () => {
  it("answers plain callers of SageMaker as /v1/embed does, without a key", async () => {
    const app = await setUp();
    const response = await app.fetch(invoke({ inputs: ["to be", "or not"] }));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ model: TINY.name, tier: "region", usage: { tokens: 8 } });
    expect(response.headers.get(ATTRIBUTES)).toMatch(/x-bert-edge-provider=fake/);
  });

  it("keeps the status of refusals for plain callers, and hides it in an attribute for ours", async () => {
    const app = await setUp();
    const plain = await app.fetch(invoke({ inputs: [] }, "trace-7"));
    expect(plain.status).toBe(400);
    const ours = await app.fetch(invoke({ inputs: [] }, "path=v1/embed"));
    expect(ours.status).toBe(200);
    expect(ours.headers.get(ATTRIBUTES)).toMatch(/^status=400&/);
    expect(await ours.json()).toEqual(await plain.json());
  });

  it("reaches OpenAI's route and /ready by their path, and no others", async () => {
    const app = await setUp();
    const list = await app.fetch(invoke({ input: "to be", model: TINY.name }, "path=v1%2Fembeddings"));
    expect(await list.json()).toMatchObject({ object: "list" });
    expect(await (await app.fetch(invoke({}, "path=ready"))).json()).toMatchObject({ status: "ready" });
    for (const path of ["health", "invocations", "/v1/embed", "v1/../v1/embed", "//evil", "constructor", ""]) {
      const response = await app.fetch(invoke({ inputs: "a" }, `path=${encodeURIComponent(path)}`));
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "route_unknown" } });
    }
  });

  it("reads the budget from the attributes", async () => {
    const app = await setUp();
    const response = await app.fetch(invoke({ inputs: "to be" }, "path=v1/embed&x-latency-budget-ms=soon"));
    expect(await response.json()).toMatchObject({ error: { code: "budget_invalid" } });
  });

  it.each([["x".repeat(5_000)], ["%%%=&&&=path"], ["x-latency-budget-ms=1%0d%0ax-evil:%201"], ["traceparent=%ff%fe"]])(
    "ignores attributes that are not ours: %.40s",
    async (attributes) => {
      const app = await setUp();
      expect((await app.fetch(invoke({ inputs: "to be" }, attributes))).status).toBe(200);
    },
  );

  it("refuses bodies above the limit", async () => {
    const app = await setUp({ limits: { maxBodyBytes: 100 } });
    const response = await app.fetch(invoke({ inputs: "x".repeat(200) }));
    expect(response.status).toBe(413);
  });
});

it("has neither route without the option", async () => {
  const app = await setUp({ sagemaker: false });
  expect((await app.request("/ping")).status).toBe(404);
  expect((await app.fetch(invoke({ inputs: "to be" }))).status).toBe(404);
});
