import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { smallFiles, smallManifest } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { assertAssetSizes, assetsPublisher } from "./assets-publisher.ts";

const octets = { contentType: "application/octet-stream" };
const LIMIT = 25 * 1024 * 1024;

it("writes an asset of 25 MiB, and refuses an asset with one byte more", async () => {
  const folder = await temporaryFolder();
  const store = assetsPublisher(folder);
  await store.put("largest", new Uint8Array(LIMIT), octets);
  await expect(store.put("blobs/too-large", new Uint8Array(LIMIT + 1), octets)).rejects.toMatchObject({
    code: "asset_too_large",
    message: `blobs/too-large has ${LIMIT + 1} bytes, but Cloudflare limits static assets to ${LIMIT} bytes.`,
    hint: expect.stringContaining("--targets edge"),
  });
  expect(await readdir(folder)).toEqual(["largest"]);
});

it("names the file of an artifact that is too large, before anything is written", async () => {
  const manifest = await smallManifest(smallFiles());
  expect(() => assertAssetSizes(manifest)).not.toThrow();
  const files = { ...manifest.files, "model.fp16.onnx": { sha256: "", size: LIMIT + 1 } };
  expect(() => assertAssetSizes({ files })).toThrow(/^model\.fp16\.onnx has \d+ bytes/);
});
