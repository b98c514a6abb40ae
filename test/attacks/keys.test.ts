import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { apiKey } from "#sdk/serve/middleware/api-key.ts";
import { answerError } from "#sdk/serve/middleware/on-error.ts";

const KEY = "the-right-key";

/** An app on Cloudflare, which names the address of each caller. */
function onCloudflare() {
  const clock = { now: 0 };
  const app = new Hono();
  app.onError(answerError);
  app.use(
    apiKey(
      () => [KEY],
      () => clock.now,
    ),
  );
  app.get("/here", (c) => c.text("in"));
  const send = async (key: string, address = "203.0.113.1", cf: object | null = {}) => {
    const request = new Request("http://edge/here", {
      headers: { authorization: `Bearer ${key}`, "cf-connecting-ip": address },
    });
    return app.request(Object.assign(request, cf && { cf }));
  };
  return { send, clock };
}

describe("key guessing", () => {
  it("gets one answer for all wrong keys, however near they are", async () => {
    const { send } = onCloudflare();
    const answers = new Set<string>();
    for (const key of [KEY.slice(0, -1), `${KEY}y`, KEY.toUpperCase(), "x", `${KEY},${KEY}`]) {
      const response = await send(key);
      answers.add(`${response.status} ${await response.text()}`);
    }
    expect([...answers]).toEqual([expect.stringMatching(/^401 .*key_wrong/)]);
  });

  it("ends after 30 wrong keys a minute from an address, also for the right key, and only for this address", async () => {
    const { send, clock } = onCloudflare();
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, i) => send(`guess ${i}`.replace(" ", "-"))));
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([401]));
    for (const key of ["guess-30", KEY]) {
      const refused = await send(key);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("retry-after-ms"))).toBeGreaterThan(0);
    }
    expect((await send(KEY, "203.0.113.2")).status).toBe(200);
    clock.now += 2_100;
    expect((await send(KEY)).status).toBe(200);
  });

  it("is not limited by a header that a caller can write, so that nobody can lock others out", async () => {
    const { send } = onCloudflare();
    for (let i = 0; i < 50; i++) await send(`guess-${i}`, "203.0.113.1", null);
    expect((await send(KEY, "203.0.113.1", null)).status).toBe(200);
  });
});
