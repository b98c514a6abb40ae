import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { httpStore } from "./http.ts";

async function listening(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const stop = (server: Server | undefined) => {
  server?.closeAllConnections();
  server?.close();
};

describe("httpStore", () => {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  let web: Awaited<ReturnType<typeof listening>>;
  beforeAll(async () => {
    web = await listening(({ url = "" }, response) => {
      const file = files.get(decodeURIComponent(url));
      response.writeHead(file ? 200 : 404).end(file ?? "not here");
    });
  });
  afterAll(() => stop(web?.server));

  testStore("httpStore", async () => ({
    store: httpStore(`${web.url}/team%20a/`),
    put: async (key, bytes) => void files.set(`/team a/${key}`, bytes),
  }));

  it("sends its headers and the address's query with every request", async () => {
    const asked: unknown[] = [];
    const { server, url } = await listening((request, response) => {
      asked.push([request.url, request.headers.authorization]);
      response.end("object");
    });
    onTestFinished(() => stop(server));
    const store = httpStore(`${url}/models//?token=secret`, { headers: { authorization: "Bearer key" } });
    expect(await readObject(store, "a b")).toEqual(bytesOf("object"));
    expect(asked).toEqual([["/models/a%20b?token=secret", "Bearer key"]]);
    expect(store.name).toBe(`${url}/models`);
  });

  it.each([
    ["models", "models: this is not a complete URL.", "Give a complete URL"],
    ["example.com/models", "example.com/models: this is not a complete URL.", "Give a complete URL"],
    [
      "https://user:password@example.com/models",
      "https://…@example.com/models: the URL contains credentials.",
      "send them in `headers`",
    ],
  ])("refuses the address %s, and does not show its password", (url, message, hint) => {
    expect(() => httpStore(url)).toThrow(
      expect.objectContaining({
        code: "setting_invalid",
        message: `Cannot read models from ${message}`,
        hint: expect.stringContaining(hint),
      }),
    );
  });

  it.each([403, 500])("throws storage_unavailable when the server answers %d", async (status) => {
    const store = httpStore("https://example.com/m", { fetch: async () => new Response("", { status }) });
    await expect(readObject(store, "x")).rejects.toMatchObject({
      code: "storage_unavailable",
      message: `https://example.com/m could not be read or written: HTTP ${status} (object x)`,
    });
  });
});
