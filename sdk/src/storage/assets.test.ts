import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeployedAssets, deployedAssets } from "#test/fixtures/assets.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { assetsStore } from "./assets.ts";
import { readObject } from "./read-object.ts";

let assets: DeployedAssets;
beforeAll(async () => {
  assets = await deployedAssets("export default { fetch() { return new Response() } }");
});
afterAll(() => assets?.stop());

testStore("assetsStore", async () => ({
  store: {
    name: "assets",
    open: async (key, signal) => assetsStore(await assets.deployed(), { prefix: "team a" }).open(key, signal),
  },
  put: (key, bytes) => assets.folder.put(`team a/${key}`, bytes, { contentType: "application/octet-stream" }),
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
