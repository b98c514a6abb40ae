import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerError } from "../on-error.ts";
import { inFlight } from "../queue/in-flight.ts";
import { listResponse } from "../routes/in-parts.ts";
import { bodyText } from "./body.ts";
import { countInFlight } from "./in-flight.ts";
import { note, noted } from "./variables.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

const MAX_BODY = 1_000_000;
/** An item of 1,000 characters. */
const ITEM = "x".repeat(1_000);

/** Makes an app that answers with the length of a body, or with a long list. `seen` has the bytes in flight while it does. */
function setUp({ maxBytes = 10_000_000, now = () => performance.now() } = {}) {
  const memory = inFlight({
    maxBytes: () => maxBytes,
    refused: () => {},
    now,
    requestBytes: 0,
  });
  const seen: number[] = [];
  const app = new Hono().onError(answerError);
  app.use(async (c, next) => {
    const key = { name: c.req.header("x-key") ?? "web", sha256: "", plain: undefined, isAlone: true };
    note(c, "key", key);
    await next();
  });
  app.use(
    countInFlight(() => ({ hold: (holder, bytes) => memory.hold(holder, bytes, 60_000) }), { maxBodyBytes: MAX_BODY }),
  );
  app.post("/length", async (c) => {
    const { length } = await bodyText(c);
    seen.push(memory.bytes());
    return c.json([length, (await bodyText(c)).length, noted(c, "flight")?.caller.id]);
  });
  app.post("/list", (c) => listResponse(c, Array(5_000).fill(ITEM), (item) => JSON.stringify(item)));
  app.post("/item", (c) => listResponse(c, [ITEM.repeat(3_000)], (item) => JSON.stringify(item)));
  const send = (body: BodyInit | undefined, headers: Record<string, string> = {}, path = "/length") =>
    app.request(path, { method: "POST", headers, ...(body !== undefined && { body, duplex: "half" }) } as RequestInit);
  const failure = async (response: Response | Promise<Response>) => {
    const { error } = (await (await response).json()) as { error?: { code: string } };
    return { status: (await response).status, code: error?.code };
  };
  return { app, memory, send, seen, failure };
}

/** Makes a body of which each of the parts arrives `everyMs` after the one before. It has no end without `ends`. */
function slowBody(parts: readonly number[], everyMs: number, ends = true): ReadableStream {
  let next = 0;
  return new ReadableStream({
    async pull(stream) {
      const size = parts[next++];
      if (size === undefined) return ends ? stream.close() : new Promise(() => {});
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      stream.enqueue(new Uint8Array(size).fill(97));
    },
  });
}

describe("the memory of a body", () => {
  it("counts as declared before it arrives, or as it arrives, and no longer than the request", async () => {
    const { memory, send, seen } = setUp();
    expect(await (await send("a".repeat(500), { "content-length": "500" })).json()).toEqual([500, 500, "web"]);
    const chunked = send(slowBody([300, 300], 10));
    await vi.advanceTimersByTimeAsync(100);
    expect(await (await chunked).json()).toEqual([600, 600, "web"]);
    // A body in chunks arrives in a buffer of 16 KiB.
    expect(seen).toEqual([500, 16_384 + 600]);
    expect(memory.bytes()).toBe(0);
  });

  it("counts as long as an answer may take, once it has been read", async () => {
    let ms = 0;
    const { app, memory, send } = setUp({ now: () => ms });
    const seen: number[] = [];
    app.post("/slow", async (c) => {
      ms += 10_000;
      await bodyText(c);
      for (const passed of [590_000, 20_000]) {
        ms += passed;
        seen.push(memory.bytes());
      }
      return c.body(null);
    });
    await send("a", { "content-length": "4000" }, "/slow");
    expect(seen).toEqual([4_000, 0]);
  });

  it("is refused when it is too large, whether it is declared or not", async () => {
    const { send, failure, memory } = setUp();
    const tooLarge = { status: 413, code: "body_too_large" };
    expect(await failure(send("", { "content-length": `${MAX_BODY + 1}` }))).toMatchObject(tooLarge);
    expect(await failure(send(new Uint8Array(MAX_BODY + 1)))).toMatchObject(tooLarge);
    expect((await send(new Uint8Array(MAX_BODY))).status).toBe(200);
    expect(memory.bytes()).toBe(0);
  });

  it("is refused when it is too large although its size is not declared, or declared wrongly, and read before", async () => {
    const { send, failure, memory } = setUp();
    const text = "a".repeat(MAX_BODY + 1);
    for (const length of ["10", "abc", "-1", "1e3"]) {
      expect(await failure(send(text, { "content-length": length }))).toMatchObject({ status: 413 });
    }
    expect(memory.bytes()).toBe(0);
  });

  it("is refused beyond the room of its key, and others are served", async () => {
    const { send, failure } = setUp({ maxBytes: 280_000 });
    const held = Array.from({ length: 5 }, () => send(slowBody([10_000], 5, false)));
    await vi.advanceTimersByTimeAsync(50);
    expect(await failure(send(new Uint8Array(10_000)))).toMatchObject({ status: 503, code: "overloaded" });
    expect((await send(new Uint8Array(10_000), { "x-key": "other" })).status).toBe(200);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await Promise.all(held.map(failure))).toEqual(Array(5).fill(expect.objectContaining({ status: 408 })));
  });

  it.each([
    ["a small one that does not end", () => slowBody([10], 5, false), { "content-length": "20" }],
    ["a large one that stops", () => slowBody([200_000], 5, false), { "content-length": "400000" }],
    ["one in chunks that stops", () => slowBody([200_000], 5, false), {}],
    ["one that drips", () => slowBody(Array(200).fill(10), 1_000), {}],
    ["one that takes more than a minute", () => slowBody(Array(90).fill(8_000), 1_000), {}],
  ] as const)("ends with %s", async (_, body, headers) => {
    const { send, failure, memory } = setUp();
    const answer = failure(send(body(), headers));
    await vi.advanceTimersByTimeAsync(70_000);
    expect(await answer).toMatchObject({ status: 408, code: "body_too_slow" });
    expect(memory.bytes()).toBe(0);
  });

  it("may take its time if it moves", async () => {
    const { send } = setUp();
    const answer = send(slowBody(Array(40).fill(8_000), 1_000));
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await (await answer).json()).toEqual([320_000, 320_000, "web"]);
  });
});

describe("an answer in parts", () => {
  it("counts until it is read", async () => {
    const { memory, send } = setUp();
    const response = await send("a", { "content-length": "4000" }, "/list");
    expect(memory.bytes()).toBe(4_000);
    expect((await response.text()).length).toBeGreaterThan(5_000_000);
    expect(memory.bytes()).toBe(0);
  });

  it("counts until it is read, also if it has a single item", async () => {
    const { memory, send } = setUp();
    const response = await send("a", { "content-length": "4000" }, "/item");
    expect(memory.bytes()).toBe(4_000);
    expect(await response.json()).toEqual([ITEM.repeat(3_000)]);
    expect(memory.bytes()).toBe(0);
  });

  it("counts until its reader goes", async () => {
    const { memory, send } = setUp();
    const response = await send("a", { "content-length": "4000" }, "/list");
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(memory.bytes()).toBe(0);
  });

  it("is dropped when nobody reads it", async () => {
    const { memory, send } = setUp();
    const response = await send("a", { "content-length": "4000" }, "/list");
    const reader = response.body?.getReader();
    await reader?.read();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(memory.bytes()).toBe(0);
    await expect(reader?.read()).rejects.toThrow("read nothing");
  });
});

describe("the caller behind a key", () => {
  it("is named by a header", async () => {
    const { send } = setUp();
    expect(await (await send("a", { "x-bert-edge-caller": "alice" })).json()).toEqual([1, 1, "web alice"]);
  });

  it.each(["", "é", "a\tb", "a".repeat(201)])("is not %j", async (name) => {
    const { send, failure } = setUp();
    const answer = await failure(send("a", { "x-bert-edge-caller": name }));
    expect(answer).toMatchObject({ status: 400, code: "request_invalid" });
  });
});
