import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { assetsFolder } from "./assets-folder.ts";

const octets = { contentType: "application/octet-stream" };
const LIMIT = 25 * 1024 * 1024;

it("writes an asset of 25 MiB, and refuses an asset with one byte more", async () => {
  const folder = await temporaryFolder();
  const store = assetsFolder(folder);
  await store.put("largest", new Uint8Array(LIMIT), octets);
  await expect(store.put("blobs/too-large", new Uint8Array(LIMIT + 1), octets)).rejects.toMatchObject({
    code: "asset_too_large",
    message: `blobs/too-large has ${LIMIT + 1} bytes, but Cloudflare limits static assets to ${LIMIT} bytes.`,
    hint: expect.stringContaining("--targets edge"),
  });
  expect(await readdir(folder)).toEqual(["largest"]);
});
