import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { keyRing } from "#sdk/serve/keys/key-ring.ts";
import { apiKey } from "#sdk/serve/middleware/api-key.ts";
import { answerError } from "#sdk/serve/on-error.ts";

const KEY = "the-right-key";

/** An app on Cloudflare, which names the address of each caller. */
function onCloudflare() {
  const clock = { now: 0 };
  const app = new Hono();
  app.onError(answerError);
  app.use(
    apiKey(
      keyRing(() => [KEY]),
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

/** Sends wrong keys, and returns the statuses that they got. */
async function wrongKeys(send: ReturnType<typeof onCloudflare>["send"], count: number, address?: string) {
  const statuses = new Set<number>();
  for (let i = 0; i < count; i++) statuses.add((await send(`guess-${i}`, address)).status);
  return [...statuses];
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

  it("gets 429 after 30 wrong keys a minute from an address, and only for this address", async () => {
    const { send, clock } = onCloudflare();
    expect(await wrongKeys(send, 30)).toEqual([401]);
    const refused = await send("guess-30");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after-ms"))).toBeGreaterThan(0);
    expect((await send("guess-30", "203.0.113.2")).status).toBe(401);
    clock.now += 2_100;
    expect((await send("guess-31")).status).toBe(401);
  });

  it("never refuses the right key of an address that others guess from: all Workers of other zones share one", async () => {
    const { send } = onCloudflare();
    const ofWorkers = "2a06:98c0:3600::103";
    expect(await wrongKeys(send, 100, ofWorkers)).toEqual([401, 429]);
    expect((await send(KEY, ofWorkers)).status).toBe(200);
    expect((await send("guess", ofWorkers)).status).toBe(429);
  });

  it("counts an IPv6 network of 64 bits as one address", async () => {
    const { send } = onCloudflare();
    for (let i = 0; i < 30; i++) await send("guess", `2001:db8:0:7::${i.toString(16)}`);
    expect((await send("guess", "2001:db8::7:a:b:c:d")).status).toBe(429);
    expect((await send("guess", "2001:db8:0:7:a:b:c:d")).status).toBe(429);
    expect((await send("guess", "2001:db8:0:8::1")).status).toBe(401);
    expect((await send("guess", "2001:db8::1")).status).toBe(401);
  });

  it("is not counted by a header that a caller can write", async () => {
    const { send } = onCloudflare();
    for (let i = 0; i < 50; i++) expect((await send(`guess-${i}`, "203.0.113.1", null)).status).toBe(401);
  });
});
