import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { KeyWithDefaults } from "../call-defaults.ts";
import { keyRing } from "../keys/key-ring.ts";
import { keyLimits } from "../keys/spending.ts";
import { answerError } from "../on-error.ts";
import { apiKey } from "./api-key.ts";
import { limitKey } from "./limits.ts";
import { note } from "./variables.ts";

/** An app whose answers have as many tokens and texts as the path says. */
function setUp(keys: readonly (string | KeyWithDefaults)[]) {
  const clock = { now: 1_000_000 };
  const app = new Hono();
  app.onError(answerError);
  app.use(apiKey(keyRing(() => keys)), limitKey(keyLimits(() => clock.now)));
  app.get("/:tokens/:texts", (c) => {
    const { tokens, texts } = c.req.param();
    const model = {
      model: "tiny",
      version: "1",
      tier: "edge",
      provider: "wasm",
      reason: "no-budget",
      predictedMs: undefined,
      timings: {},
      decision: {},
    } as const;
    note(c, "answer", { ...model, tokens: Number(tokens), texts: Number(texts) });
    return c.text("ok");
  });
  const get = async (key: string, path = "/1/1") => {
    const response = await app.request(path, { headers: { authorization: `Bearer ${key}` } });
    return { status: response.status, retry: response.headers.get("retry-after"), text: await response.text() };
  };
  return { get, clock };
}

describe("limitKey", () => {
  it("answers 429 with the figure and the pause when a key has sent its requests of a minute", async () => {
    const { get, clock } = setUp([{ key: "secret", name: "web", requestsPerMinute: 2 }, "free"]);
    expect((await get("secret")).status).toBe(200);
    expect((await get("secret")).status).toBe(200);
    const { status, retry, text } = await get("secret");
    expect([status, retry, JSON.parse(text)]).toMatchObject([429, "30", { error: { code: "rate_limited" } }]);
    expect(text).toContain("The key web may send 2 requests per minute.");
    expect(text).not.toContain("secret");
    expect((await get("free")).status).toBe(200);
    clock.now += 30_000;
    expect((await get("secret")).status).toBe(200);
    expect((await get("secret")).status).toBe(429);
  });

  it.each([
    ["tokensPerMinute", "/150/1", "tokens"],
    ["textsPerMinute", "/1/150", "texts"],
  ])("counts %s of answers", async (limit, path, noun) => {
    const { get, clock } = setUp([{ key: "k", [limit]: 100 }]);
    expect((await get("k", path)).status).toBe(200);
    const { status, retry, text } = await get("k", path);
    expect([status, retry]).toEqual([429, "30"]);
    expect(text).toContain(`100 ${noun} per minute`);
    clock.now += 30_000;
    expect((await get("k", path)).status).toBe(200);
  });

  it("counts keys with one name together", async () => {
    const { get } = setUp([
      { key: "old", name: "web", requestsPerMinute: 1 },
      { key: "new", name: "web", requestsPerMinute: 1 },
    ]);
    expect([(await get("old")).status, (await get("new")).status]).toEqual([200, 429]);
  });
});
