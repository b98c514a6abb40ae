import { afterAll, beforeAll } from "vitest";
import { type DeployedAssets, deployedAssets } from "#test/fixtures/assets.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { assetsStore } from "./assets.ts";

let assets: DeployedAssets;
beforeAll(async () => {
  assets = await deployedAssets("export default { fetch() { return new Response() } }");
});
afterAll(() => assets?.stop());

testStore("assetsStore in workerd", async () => ({
  store: {
    name: "assets",
    open: async (...args) => assetsStore(await assets.deployed(), { prefix: "team a" }).open(...args),
  },
  put: (key, bytes) => assets.folder.put(`team a/${key}`, bytes, { contentType: "application/octet-stream" }),
}));
