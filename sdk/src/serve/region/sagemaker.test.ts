import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { sageMakerAccess, sageMakerEndpoint } from "#test/fixtures/sagemaker.ts";
import { fakeEngine, latch, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { readPointer } from "../../storage/published-artifact.ts";
import { callerWith } from "../queue/caller.ts";
import { createRegionApp, type RegionAppOptions } from "../region-app.ts";
import { startDeadline } from "../routing/deadline.ts";
import { connectRegion, type RegionQuery } from "./region-tier.ts";

errorLog();

const trace = { requestId: "r-1", traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };

/** Starts a region behind SageMaker, and connects to it. */
async function setUp(engine = fakeEngine({ target: "regional-cpu" }), options: Partial<RegionAppOptions> = {}) {
  const store = await tinyStore();
  const { version } = await readPointer(store, TINY.name);
  const app = createRegionApp({ models: store, model: TINY.name, engine, keys: [], sagemaker: true, ...options });
  const endpoint = await sageMakerEndpoint((request) => app.fetch(request));
  const connect = (access = sageMakerAccess) => connectRegion({ url: endpoint.url, aws: access });
  const expected = {
    ...{ model: TINY.name, version, lengths: [8], norm: "one" as const },
    maxTokens: 16,
    computeMs: 4,
  };
  const tier = connect();
  const embed = (query: Partial<RegionQuery> = {}, from = tier) =>
    from.ask(
      {
        ...{ inputs: ["to be"], truncate: false },
        ...{ deadline: startDeadline(undefined), ...query },
      },
      expected,
    );
  const probe = async () => {
    const work: Promise<unknown>[] = [];
    tier.keepMeasured((promise) => void work.push(promise));
    await Promise.all(work);
  };
  return { endpoint, tier, connect, embed, probe };
}

describe("a region on SageMaker", () => {
  it("answers through InvokeEndpoint, which passes budget, precision and names as attributes only", async () => {
    const { endpoint, embed } = await setUp();
    const answer = await embed({
      deadline: startDeadline(9_000),
      precision: "int8",
      trace,
      caller: callerWith({ name: "web" }),
    });
    expect(answer).toMatchObject({ tokens: 4, provider: "fake", model: TINY.name });
    expect(answer.timings).toHaveProperty("region-compute");
    const sent = new URLSearchParams(endpoint.attributes[0]?.request);
    expect([...sent.keys()]).toEqual([
      ...["path", "x-latency-budget-ms", "x-bert-edge-precision", "x-bert-edge-caller", "x-request-id", "traceparent"],
    ]);
    expect(sent.get("path")).toBe("v1/outputs");
    expect(Number(sent.get("x-latency-budget-ms"))).toBeGreaterThan(8_000);
    const returned = new URLSearchParams(endpoint.attributes[0]?.response ?? "");
    expect(returned.get("x-bert-edge-model")).toMatch(/^tiny@[0-9a-f]{12}$/);
    expect(returned.get("x-request-id")).toBe("r-1");
    expect(Number(returned.get("x-bert-edge-queue-ms"))).toBeGreaterThanOrEqual(0);
    expect(returned.get("server-timing")).toMatch(/compute;dur=/);
  });

  it("is probed through the same route, and is down while it loads its model", async () => {
    const loaded = latch();
    const { endpoint, tier, probe } = await setUp(fakeEngine({ target: "regional-cpu", onLoad: () => loaded.promise }));
    await probe();
    expect(endpoint.attributes[0]).toMatchObject({
      request: "path=ready",
      response: expect.stringMatching(/^status=503/),
    });
    expect(tier.predict(0)).toBe("down");
    loaded.resolve();
  });

  it("passes on refusals with their own status, code and wait", async () => {
    const { embed, tier } = await setUp(undefined, { limits: { maxBytesInFlight: 1, maxInputs: 2 } });
    await expect(embed({ inputs: ["a", "b", "c"] })).rejects.toMatchObject({ code: "too_many_inputs" });
    await expect(embed({ inputs: [" "] })).rejects.toMatchObject({ code: "input_empty", index: 0 });
    await expect(embed({ inputs: ["word ".repeat(40)] })).rejects.toMatchObject({ code: "input_too_long" });
    expect(tier.predict(0)).not.toBe("down");
  });

  it("refuses a wrong secret, and a signature for another service, which no error shows", async () => {
    const { connect, embed } = await setUp();
    const error = await embed({}, connect({ ...sageMakerAccess, secretAccessKey: "S3CR3T" })).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "region_failed", message: expect.stringContaining("HTTP 403") });
    expect(inspect(error)).not.toContain("S3CR3T");
  });

  it("has failed when SageMaker answers for a container that crashed", async () => {
    const { embed, tier } = await setUp(
      fakeEngine({ target: "regional-cpu", onLoad: () => Promise.reject(new Error("no GPU")) }),
    );
    await expect(embed()).rejects.toMatchObject({ code: "region_failed" });
    expect(tier.predict(0)).toBe("down");
  });
});
