import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { blobKey } from "../../sdk/src/artifact/keys.ts";
import { CHUNK_BYTES } from "../../sdk/src/artifact/manifest.ts";
import { type ObjectStorage, startObjectStorage } from "../../sdk/src/cli/dev/object-storage.ts";
import { publish } from "../../sdk/src/storage/publish.ts";
import type { S3Options } from "../../sdk/src/storage/s3.ts";
import { s3Publisher } from "../../sdk/src/storage/s3-publisher.ts";
import type { WritableStore } from "../../sdk/src/storage/store.ts";
import { type TestBucket, testBucketStore } from "../suites/r2.ts";
import { smallArtifact } from "../suites/small-artifact.ts";

const octets = { contentType: "application/octet-stream" };
const MODEL = "model.int8.onnx";

/** Streams the model of a published artifact into WebAssembly memory and says what has come of it. */
const worker = `
  import { readPointer, openPublished } from "./sdk/src/storage/published-artifact.ts";
  import { sha256Hex } from "./sdk/src/artifact/sha256.ts";
  import { r2Store } from "./sdk/src/storage/r2.ts";
  import { s3Store } from "./sdk/src/storage/s3.ts";

  export default {
    async fetch(request, { MODELS }) {
      const s3 = await request.json();
      const store = s3 ? s3Store(s3) : r2Store(MODELS);
      try {
        const artifact = await openPublished(store, await readPointer(store, "small"));
        const { size } = artifact.manifest.files["${MODEL}"];
        const target = new Uint8Array(new WebAssembly.Memory({ initial: 400 }).buffer, 16, size);
        await artifact.readInto("${MODEL}", target);
        return Response.json({ sha256: await sha256Hex(target) });
      } catch ({ code, message }) {
        return Response.json({ code, message });
      }
    },
  };`;

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
  const script = outputFiles[0]?.text ?? "";
  const options = { modules: true, script, r2Buckets: ["MODELS"], compatibilityDate: "2026-11-01" };
  workerd = new Miniflare(convertV4MiniflareOptions(options));
  storage = await startObjectStorage(process.cwd());
  artifact = await smallArtifact("weights ".repeat(400_000));
});
afterAll(async () => {
  await workerd?.dispose();
  await storage?.stop();
});

async function load(s3?: S3Options): Promise<{ sha256?: string; code?: string; message?: string }> {
  const response = await workerd.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(s3 ?? null) });
  return (await response.json()) as object;
}

describe.each([
  ["an R2 binding", async () => testBucketStore((await workerd.getR2Bucket("MODELS")) as unknown as TestBucket), false],
  ["the S3 protocol", async () => s3Publisher(storage.access), true],
])("in workerd, over %s, a model", (_, open: () => Promise<WritableStore>, overS3) => {
  const access = () => (overS3 ? storage.access : undefined);
  const model = () => {
    const { sha256 = "" } = artifact.manifest.files[MODEL] ?? {};
    return { sha256, key: blobKey(sha256), bytes: artifact.files.get(MODEL) as Uint8Array<ArrayBuffer> };
  };
  let store: WritableStore;
  beforeAll(async () => {
    store = await open();
    await publish(artifact, store);
  });

  it("is streamed into WebAssembly memory as it was published", async () => {
    expect(artifact.manifest.files[MODEL]?.chunks).toHaveLength(4);
    expect(await load(access())).toEqual({ sha256: model().sha256 });
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
    await store.put(key, damage(bytes), octets);
    const failure = await load(access());
    await store.put(key, bytes, octets);
    expect(failure).toMatchObject({ code: "artifact_corrupt", message: expect.stringContaining(message) });
    expect(failure.message).toContain(key);
  });
});

it("in workerd, a server that stalls is given up in time, and is told so", async () => {
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
  expect(await load({ ...storage.access, endpoint, timeoutMs: 100 })).toMatchObject({
    code: "storage_unavailable",
    message: expect.stringContaining("not read to its end within 100 ms"),
  });
  await closed;
});
