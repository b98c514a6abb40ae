import { gzipSync } from "node:zlib";
import { Hono } from "hono";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { noHold } from "#test/fixtures/no-hold.ts";
import { answerError } from "../on-error.ts";
import { hintsWith, jsonBody } from "./body.ts";
import { countInFlight } from "./in-flight.ts";

const app = new Hono();
app.onError(answerError);
app.post("/here", async (c) =>
  c.json(await jsonBody(c, v.object({ inputs: v.array(v.string()) }), { hint: hintsWith({}) })),
);

async function post(body: string | Uint8Array<ArrayBuffer>, type: string | undefined) {
  // Fetch sets a content type for a string body, so this function sends bytes.
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const response = await app.request("/here", {
    method: "POST",
    body: bytes,
    headers: type ? { "content-type": type } : {},
  });
  return { status: response.status, json: (await response.json()) as Record<string, never> };
}
const good = '{"inputs": ["a"]}';

describe("jsonBody", () => {
  it.each(["application/json", "application/json; charset=utf-8", "Application/JSON ;charset=UTF-8"])(
    "accepts %s",
    async (type) => {
      expect(await post(good, type)).toEqual({ status: 200, json: { inputs: ["a"] } });
    },
  );

  it.each([
    undefined,
    "text/plain",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "application/jsonx",
  ])("refuses %s", async (type) => {
    const { status, json } = await post(good, type);
    expect({ status, json }).toMatchObject({ status: 415, json: { error: { code: "content_type_unsupported" } } });
  });

  it("names the invalid key", async () => {
    const { status, json } = await post('{"inputs": ["a", 1]}', "application/json");
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: "request_invalid", message: expect.stringContaining("inputs.1") } });
  });

  it.each(["", " ", "{", "undefined", '{"inputs": ["a"],}', "{'inputs': []}", '{"inputs": ["\u0001"]}'])(
    "reports that %j is not JSON",
    async (body) => {
      const { status, json } = await post(body, "application/json");
      expect({ status, json }).toMatchObject({
        status: 400,
        json: {
          error: { code: "request_invalid", message: expect.stringMatching(/^The request body is not JSON: .+/) },
        },
      });
    },
  );

  it.each([
    ["compressed", gzipSync(good)],
    ["UTF-16", Buffer.from(`\ufeff${good}`, "utf16le")],
  ])("names a body that is %s, without its bytes", async (_, body) => {
    const { status, json } = await post(Uint8Array.from(body), "application/json");
    const message = "The request body is not JSON: it is compressed, or not UTF-8.";
    expect({ status, json }).toMatchObject({ status: 400, json: { error: { code: "request_invalid", message } } });
  });

  it("reports a body that ends early as the caller's fault, and logs nothing", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const limited = new Hono()
      .onError(answerError)
      .use(countInFlight(() => ({ hold: () => noHold }), { maxBodyBytes: 100 }))
      .route("/", app);
    for (const through of [app, limited]) {
      const body = new ReadableStream({ pull: (stream) => stream.error(new Error("aborted")) });
      const headers = { "content-type": "application/json" };
      const response = await through.request("/here", { method: "POST", headers, body, duplex: "half" } as RequestInit);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: "request_invalid" } }]);
    }
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  it("skips a byte order mark, and replaces bytes that are not UTF-8", async () => {
    expect((await post(`\ufeff${good}`, "application/json")).json).toEqual({ inputs: ["a"] });
    const [before, after] = ['{"inputs": ["', '"]}'].map((text) => [...new TextEncoder().encode(text)]) as [
      number[],
      number[],
    ];
    const bytes = Uint8Array.from([...before, 0xff, ...after]);
    expect((await post(bytes, "application/json")).json).toEqual({ inputs: ["\ufffd"] });
  });
});
