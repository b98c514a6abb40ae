import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { noHold } from "#test/fixtures/no-hold.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { CallDefaults, KeyWithDefaults } from "../call-defaults.ts";
import { keyRing } from "../keys/key-ring.ts";
import { defaultLimits } from "../limits.ts";
import { apiKey } from "../middleware/api-key.ts";
import { servedNames } from "../served-names.ts";
import type { RequestOptions } from "../service.ts";
import { embedRoute } from "../tasks/embed.ts";
import { readCall } from "./task-route.ts";

/** Parts of the service that reading a call does not need. */
const unused = {
  hold: () => noHold,
  bytesInFlight: () => 0,
  answer: () => Promise.reject(new Error("not used")),
  using: () => Promise.reject(new Error("not used")),
  ready: () => undefined,
  warm: () => {},
  failure: () => undefined,
  served: servedNames(["tiny"]),
  regions: 0,
  memoryBytes: () => 0,
  queueMs: () => 0,
  totals: { answers: new Map(), refusals: new Map() },
};

interface Settings {
  defaults?: CallDefaults;
  key?: Omit<KeyWithDefaults, "key">;
  bodyMs?: number | string | null;
}

/** Reads a request with these headers, behind the check of its key. Returns the code of an error. */
async function read(headers: Record<string, string>, { defaults = {}, key, bodyMs }: Settings = {}) {
  let call: RequestOptions | undefined;
  let code: string | undefined;
  const service = () => ({ ...unused, arrival: (at: number) => ({ at, errorMs: 0, busyMs: 0 }), admit: () => {} });
  const app = new Hono<{ Bindings: object }>();
  app.onError((error, c) => {
    code = error instanceof BertEdgeError ? error.code : String(error);
    return c.text("");
  });
  app.use(apiKey(keyRing(() => [{ key: "k", ...key }])));
  app.post("/", async (c) => {
    ({ terms: call } = await readCall(c, { service, defaults, limits: defaultLimits }, embedRoute));
    return c.text("");
  });
  const sent = { authorization: "Bearer k", "content-type": "application/json", ...headers };
  const body = JSON.stringify({ inputs: "to be", latency_budget_ms: bodyMs });
  await app.request("/", { method: "POST", headers: sent, body });
  return code ?? (call as RequestOptions);
}

const pin = async (header: string | undefined, settings?: Settings) => {
  const call = await read(header === undefined ? {} : { "x-bert-edge-tier": header }, settings);
  return typeof call === "string" ? call : call.pin;
};

const budget = async (headers: Record<string, string>, settings?: Settings) => {
  const call = await read(headers, settings);
  return typeof call === "string" ? call : call.deadline.budgetMs;
};

describe("the tier of a request", () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ["edge", "edge"],
    ["region", "region"],
    [" Region ", "region"],
    ["auto", undefined],
    ["moon", "tier_invalid"],
    ["", "tier_invalid"],
    ["edge, region", "tier_invalid"],
  ])("with the header %j is %j", async (header, expected) => {
    expect(await pin(header)).toBe(expected);
  });

  it.each<[string | undefined, CallDefaults["tier"], CallDefaults["tier"], string | undefined]>([
    [undefined, "edge", undefined, "edge"],
    [undefined, undefined, "region", "region"],
    [undefined, "edge", "region", "region"],
    ["region", "edge", "edge", "region"],
    ["auto", "edge", "region", undefined],
  ])("with the header %j, the default %j and the key's %j is %j", async (header, byDefault, ofKey, expected) => {
    expect(await pin(header, { defaults: { tier: byDefault }, key: { tier: ofKey } })).toBe(expected);
  });
});

describe("the budget of a request", () => {
  it("is the smallest of those that it gives", async () => {
    const headers = { "x-latency-budget-ms": "70", "grpc-timeout": "60m" };
    expect(await budget(headers)).toBe(60);
    expect(await budget(headers, { bodyMs: 50 })).toBe(50);
    expect(await budget({ "grpc-timeout": "2S" })).toBe(2_000);
  });

  it.each<[Record<string, string>, number | undefined, number | undefined, number | undefined]>([
    [{}, undefined, undefined, undefined],
    [{}, 100, undefined, 100],
    [{}, 100, 200, 200],
    [{ "x-latency-budget-ms": "300" }, 100, 200, 300],
  ])("with the headers %j, the default %j and the key's %j is %j", async (headers, byDefault, ofKey, expected) => {
    const settings = { defaults: { latencyBudgetMs: byDefault }, key: { latencyBudgetMs: ofKey } };
    expect(await budget(headers, settings)).toBe(expected);
  });

  it.each<[string, Record<string, string>, Settings, number | undefined, string]>([
    ["none, which lifts the default", { "x-latency-budget-ms": "none" }, {}, undefined, "caller"],
    ["none in other letters", { "x-latency-budget-ms": " NONE " }, {}, undefined, "caller"],
    ["none in the body", {}, { bodyMs: "none" }, undefined, "caller"],
    ["none in the header, and a number in the body", { "x-latency-budget-ms": "none" }, { bodyMs: 7 }, 7, "caller"],
    ["null in the body, which says nothing", {}, { bodyMs: null }, 100, "default"],
    ["nothing", {}, {}, 100, "default"],
    ["nothing, with a longest budget of the key", {}, { key: { maxLatencyBudgetMs: 50 } }, 50, "maximum"],
    [
      "none, with a longest budget",
      { "x-latency-budget-ms": "none" },
      { key: { maxLatencyBudgetMs: 500 } },
      500,
      "maximum",
    ],
    [
      "more than the longest one",
      { "x-latency-budget-ms": "900" },
      { key: { maxLatencyBudgetMs: 500 } },
      500,
      "maximum",
    ],
    [
      "less than the longest one",
      { "x-latency-budget-ms": "300" },
      { key: { maxLatencyBudgetMs: 500 } },
      300,
      "caller",
    ],
  ])("of %s, where the default is 100", async (_, headers, settings, budgetMs, setBy) => {
    const call = await read(headers, { defaults: { latencyBudgetMs: 100 }, ...settings });
    expect((call as RequestOptions).deadline).toMatchObject({ budgetMs, setBy });
  });

  it("is refused in the body", async () => {
    expect(await budget({}, { bodyMs: "soon" })).toBe("request_invalid");
    expect(await budget({}, { bodyMs: -3 })).toBe("budget_invalid");
    expect(await budget({}, { bodyMs: 1e12, key: { maxLatencyBudgetMs: 500 } })).toBe("budget_invalid");
  });

  it.each([{ "x-latency-budget-ms": "soon" }, { "grpc-timeout": "50" }, { "grpc-timeout": "123456789m" }])(
    "is refused in %j",
    async (headers) => expect(await budget(headers as Record<string, string>)).toBe("budget_invalid"),
  );
});

describe("the report of a client", () => {
  it.each<[string, RequestOptions["report"]]>([
    ["12.3 20.1", { predictedMs: 12.3, measuredMs: 20.1 }],
    ["12 20", { predictedMs: 12, measuredMs: 20 }],
    ["undefined 20", undefined],
    ["12", undefined],
    ["12 20 30", undefined],
    ["-1 20", undefined],
    ["1e9 20", undefined],
    ["12345678 20", undefined],
    ["", undefined],
  ])("%j is read as %j", async (header, report) => {
    expect(await read({ "x-bert-edge-report": header })).toMatchObject({ report });
  });
});

describe("the precision of a request", () => {
  it.each([
    ["int8", "int8"],
    [" FP16 ", "fp16"],
  ])("%j is read as %j", async (header, precision) => {
    expect(await read({ "x-bert-edge-precision": header })).toMatchObject({ precision });
  });

  it.each(["fp32", "int4", ""])("%j is refused", async (header) => {
    expect(await read({ "x-bert-edge-precision": header })).toBe("precision_unavailable");
  });
});
