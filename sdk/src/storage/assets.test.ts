import { describe, expect, it } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { type Assets, assetsStore } from "./assets.ts";
import { memoryStore } from "./memory.ts";

const deployed = memoryStore();

/** Answers like a Worker's binding for assets. assets.long.test.ts asks a real one. */
const binding: Assets = {
  async fetch(url) {
    const bytes = await readObject(deployed, decodeURIComponent(new URL(url).pathname).slice(1));
    return new Response(bytes, { status: bytes ? 200 : 404 });
  },
};

testStore("assetsStore", async () => ({
  store: assetsStore(binding, { prefix: "team a" }),
  put: (key, bytes) => deployed.put(`team a/${key}`, bytes, { contentType: "application/octet-stream" }),
}));

describe("assetsStore", () => {
  const answering = (response: Response) => assetsStore({ fetch: async () => response }, { prefix: "p/" });

  it("throws storage_unavailable when the binding answers with an error", async () => {
    await expect(readObject(answering(new Response("", { status: 500 })), "models/x.json")).rejects.toMatchObject({
      code: "storage_unavailable",
      message: "assets(p/) could not be read or written: HTTP 500 (object models/x.json)",
    });
  });

  it("treats a response without a body as an empty object", async () => {
    expect(await readObject(answering(new Response(null)), "empty")).toEqual(new Uint8Array());
  });
});
