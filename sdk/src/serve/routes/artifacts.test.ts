import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { readObject } from "#test/fixtures/read-object.ts";
import { fakeEngine, hiddenStatesOf, publishTiny, TINY, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import { blobKey, pointerKey } from "../../artifact/keys.ts";
import { loadPublished } from "../../runtime/load-published.ts";
import { sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import { httpStore } from "../../storage/http.ts";
import { memoryStore } from "../../storage/memory.ts";
import { openPublished, readPointer } from "../../storage/published-artifact.ts";
import { signedStore } from "../../storage/signed.ts";
import { createEdgeApp } from "../edge-app.ts";

const log = errorLog();

async function setUp(artifacts?: "key" | "public") {
  const models = memoryStore();
  await publishTiny(models);
  await publishTiny(models, "not served", { name: "other" });
  const app = createEdgeApp({
    models,
    model: [TINY.name, "not-published"],
    engine: fakeEngine(),
    keys: ["k"],
    ...(artifacts && { artifacts }),
  });
  const get = (path: string, key = "k") =>
    app.request(`/artifacts/${path}`, { headers: { authorization: `Bearer ${key}` } });
  const storeOf = (headers: Record<string, string>) =>
    httpStore("http://edge/artifacts", { headers, fetch: async (url, init) => app.request(url, init) });
  return { models, get, storeOf };
}

describe("GET /artifacts", () => {
  it("gives callers with a key the model, which computes the vectors of the edge", async () => {
    const { storeOf, get } = await setUp("key");
    await using model = await loadPublished(storeOf({ authorization: "Bearer k" }), TINY.name, fakeEngine());
    const { embeddings } = await model.embed("to be");
    expect(embeddings).toEqual([
      sentenceVector(hiddenStatesOf(Int32Array.of(101, 2000, 2022, 102)), TINY.dimensions, {
        pooling: "mean",
        normalize: true,
      }),
    ]);
    expect((await get(pointerKey(TINY.name), "wrong")).status).toBe(401);
    await expect(loadPublished(storeOf({}), TINY.name, fakeEngine())).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });

  it("needs no key for public models", async () => {
    const { storeOf } = await setUp("public");
    await using model = await loadPublished(storeOf({}), TINY.name, fakeEngine());
    expect(model.manifest.name).toBe(TINY.name);
  });

  it("reads no other objects of the store", async () => {
    const { models, get } = await setUp("key");
    const other = await readPointer(models, "other");
    const { manifest } = await openPublished(models, await readPointer(models, TINY.name));
    expect((await get(pointerKey(TINY.name))).status).toBe(200);
    expect((await get(blobKey(manifest.files["model.onnx"]?.sha256 ?? ""))).status).toBe(200);
    for (const key of [
      pointerKey("other"),
      pointerKey(TINY.name, other.version),
      pointerKey("not-published"),
      blobKey(other.manifest.sha256),
      blobKey("0".repeat(64)),
      "keys.txt",
      `models/${TINY.name}/..%2f..%2fkeys.txt`,
      "",
    ]) {
      expect([key, (await get(key)).status]).toEqual([key, 404]);
    }
  });

  it("gives no pointer that the signers of the deployment have not signed", async () => {
    const models = memoryStore();
    await publishTiny(models);
    const signers = [`ed25519:${"0".repeat(64)}`];
    const app = createEdgeApp({
      models: signedStore(models, { signers }),
      model: TINY.name,
      engine: fakeEngine(),
      keys: false,
      artifacts: "public",
    });
    const response = await app.request(`/artifacts/${pointerKey(TINY.name)}`);
    expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining("sha256")]);
    expect(String(log.mock.calls)).toContain("has no signature");
  });

  it("gives exactly the pointer that was checked", async () => {
    const { models } = await setUp();
    let reads = 0;
    const changing = {
      ...models,
      async open(key: string, signal: AbortSignal) {
        const stream = await models.open(key, signal);
        return key === pointerKey(TINY.name) && ++reads > 1 ? new Blob(["altered"]).stream() : stream;
      },
    };
    const options = {
      models: changing,
      model: TINY.name,
      engine: fakeEngine(),
      keys: false,
      artifacts: "public",
    } as const;
    const response = await createEdgeApp(options).request(`/artifacts/${pointerKey(TINY.name)}`);
    const stored = await readObject(models, pointerKey(TINY.name));
    expect(await response.text()).toBe(new TextDecoder().decode(stored));
  });

  it("does not exist unless it is turned on", async () => {
    const { get } = await setUp();
    expect((await get(pointerKey(TINY.name))).status).toBe(404);
  });

  it("keeps blobs forever, and pointers never", async () => {
    const { get } = await setUp("key");
    const pointer = await get(pointerKey(TINY.name));
    expect(pointer.headers.get("cache-control")).toBe("no-cache");
    const { manifest } = (await pointer.json()) as { manifest: { sha256: string } };
    expect((await get(blobKey(manifest.sha256))).headers.get("cache-control")).toContain("immutable");
  });

  it("opens no blob for HEAD: nobody would read it to its end", async () => {
    const { models } = await setUp();
    const opened: string[] = [];
    const counting = {
      ...models,
      open(key: string, signal: AbortSignal) {
        opened.push(key);
        return models.open(key, signal);
      },
    };
    const options = { model: TINY.name, engine: fakeEngine(), keys: false, artifacts: "public" } as const;
    const app = createEdgeApp({ ...options, models: counting });
    const { manifest } = await openPublished(models, await readPointer(models, TINY.name));
    const key = blobKey(manifest.files["model.onnx"]?.sha256 ?? "");
    const head = await app.request(`/artifacts/${key}`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
    expect(opened).not.toContain(key);
    await (await app.request(`/artifacts/${key}`)).arrayBuffer();
    expect(opened).toContain(key);
  });

  it("gives pages of the vocabulary, in the ranges that are asked for", async () => {
    const models = memoryStore();
    const { manifest } = await tinyArtifact();
    const edge = { ...(manifest.targets.edge ?? expect.unreachable()), pages: ["tokenizer.json"] };
    await publishTiny(models, undefined, { targets: { edge } });
    const app = createEdgeApp({ models, model: TINY.name, engine: fakeEngine(), keys: false, artifacts: "public" });
    const { sha256, size } = manifest.files["tokenizer.json"] ?? expect.unreachable();
    const whole = new Uint8Array(await (await app.request(`/artifacts/${blobKey(sha256)}`)).arrayBuffer());
    expect(whole.length).toBe(size);
    const asked = async (range: string) => {
      const response = await app.request(`/artifacts/${blobKey(sha256)}`, { headers: { range } });
      return [response.status, response.headers.get("content-range"), new Uint8Array(await response.arrayBuffer())];
    };
    expect(await asked("bytes=10-12")).toEqual([206, `bytes 10-12/${size}`, whole.subarray(10, 13)]);
    expect(await asked(`bytes=10-${size - 1}`)).toEqual([206, `bytes 10-${size - 1}/${size}`, whole.subarray(10)]);
    for (const range of [`bytes=0-${size}`, "bytes=12-10", "bytes=10-", "bytes=-10", "bytes=0-1, 4-5", "lines=1-2"]) {
      expect(await asked(range)).toEqual([200, null, whole]);
    }
  });

  it("refuses other settings", () => {
    const options = { models: memoryStore(), model: "m", engine: fakeEngine(), keys: ["k"] };
    expect(() => createEdgeApp({ ...options, artifacts: "all" as "key" })).toThrow(/artifacts is all/);
  });
});
