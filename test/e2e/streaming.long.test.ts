import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { blobKey } from "#sdk/artifact/keys.ts";
import { CHUNK_BYTES } from "#sdk/artifact/manifest.ts";
import { publish } from "#sdk/storage/publish.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import type { S3Options } from "#sdk/storage/s3.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import type { WritableStore } from "#sdk/storage/store.ts";
import { deployedAssets } from "../fixtures/assets.ts";
import { type ObjectStorage, startObjectStorage } from "../fixtures/object-storage.ts";
import { smallArtifact } from "../fixtures/small-artifact.ts";

const octets = { contentType: "application/octet-stream" };
const MODEL = "model.int8.onnx";

/** Streams the model of a published artifact into WebAssembly memory, and reports the result. */
const worker = `
  import { readPointer, openPublished } from "./sdk/src/storage/published-artifact.ts";
  import { sha256Hex } from "./sdk/src/artifact/sha256.ts";
  import { r2Store } from "./sdk/src/storage/r2.ts";
  import { s3Store } from "./sdk/src/storage/s3.ts";
  import { assetsStore } from "./sdk/src/storage/assets.ts";

  export default {
    async fetch(request, { MODELS, ASSETS }) {
      const s3 = await request.json();
      const store = s3 ? s3Store(s3) : ASSETS ? assetsStore(ASSETS) : r2Store(MODELS);
      try {
        const artifact = await openPublished(store, await readPointer(store, "small"));
        const { size } = artifact.manifest.files["${MODEL}"];
        const target = new Uint8Array(new WebAssembly.Memory({ initial: 400 }).buffer, 16, size);
        await artifact.readInto("${MODEL}", { bytes: () => target });
        return Response.json({ sha256: await sha256Hex(target) });
      } catch ({ code, message }) {
        return Response.json({ code, message });
      }
    },
  };`;

let script: string;
let workerd: Miniflare;
let storage: ObjectStorage;
let artifact: Awaited<ReturnType<typeof smallArtifact>>;

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: worker, resolveDir: process.cwd() },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["workerd", "worker"],
  });
  script = outputFiles[0]?.text ?? "";
  const options = { modules: true, script, r2Buckets: ["MODELS"], compatibilityDate: "2026-11-01" };
  workerd = new Miniflare(convertV4MiniflareOptions(options));
  storage = await startObjectStorage();
  artifact = await smallArtifact("weights ".repeat(400_000));
});
afterAll(async () => {
  await workerd?.dispose();
  await storage?.stop();
});

async function load(worker: Miniflare, s3?: S3Options): Promise<{ sha256?: string; code?: string; message?: string }> {
  const response = await worker.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(s3 ?? null) });
  return (await response.json()) as object;
}

interface Place {
  store: WritableStore;
  loaded(): ReturnType<typeof load>;
  stop?(): Promise<void>;
}

async function inBucket(): Promise<Place> {
  const bucket = (await workerd.getR2Bucket("MODELS")) as unknown as WritableR2Bucket;
  return { store: r2Publisher(bucket), loaded: () => load(workerd) };
}

async function overS3(): Promise<Place> {
  return { store: s3Publisher(storage.access), loaded: () => load(workerd, storage.access) };
}

async function inAssets(): Promise<Place> {
  const { folder, deployed, workerd, stop } = await deployedAssets(script);
  return { store: folder, stop, loaded: () => deployed().then(() => load(workerd)) };
}

describe.each([
  ["an R2 binding", inBucket],
  ["the S3 protocol", overS3],
  ["static assets", inAssets],
])("in workerd, over %s, a model", (_, open) => {
  const model = () => {
    const { sha256 = "" } = artifact.manifest.files[MODEL] ?? {};
    return { sha256, key: blobKey(sha256), bytes: artifact.files.get(MODEL) as Uint8Array<ArrayBuffer> };
  };
  let place: Place;
  beforeAll(async () => {
    place = await open();
    await publish(artifact, place.store);
  });
  afterAll(() => place?.stop?.());

  it("is streamed into WebAssembly memory unchanged", async () => {
    expect(artifact.manifest.files[MODEL]?.chunks).toHaveLength(4);
    expect(await place.loaded()).toEqual({ sha256: model().sha256 });
  });

  it.each([
    [
      "damaged",
      (bytes: Uint8Array<ArrayBuffer>) => bytes.with(CHUNK_BYTES, 0),
      `in bytes ${CHUNK_BYTES} to ${2 * CHUNK_BYTES - 1}.`,
    ],
    ["cut short", (bytes: Uint8Array<ArrayBuffer>) => bytes.slice(0, -1), "instead of"],
    [
      "too long",
      (bytes: Uint8Array<ArrayBuffer>) => new Uint8Array(Buffer.concat([bytes, Uint8Array.of(0)])),
      "has more than",
    ],
  ])("is refused when it is %s, by the name of its object", async (_, damage, message) => {
    const { key, bytes } = model();
    await place.store.put(key, damage(bytes), octets);
    const failure = await place.loaded();
    await place.store.put(key, bytes, octets);
    expect(failure).toMatchObject({ code: "artifact_corrupt", message: expect.stringContaining(message) });
    expect(failure.message).toContain(key);
  });
});

it("in workerd, a transfer from a server that stalls is canceled in time, and the server notices", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const stalling: RequestListener = (_, response) => {
    response.once("close", resolve);
    response.writeHead(200, { "content-length": 1_000_000 });
    response.write(new Uint8Array(1000));
  };
  const server = createServer(stalling).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await load(workerd, { ...storage.access, endpoint, timeoutMs: 100 })).toMatchObject({
    code: "storage_unavailable",
    message: expect.stringContaining("took longer than 100 ms"),
  });
  await closed;
});
