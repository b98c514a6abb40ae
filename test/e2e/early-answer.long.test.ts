import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { blobKey } from "#sdk/artifact/keys.ts";
import { CHUNK_BYTES } from "#sdk/artifact/manifest.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import type { Model } from "#sdk/runtime/model.ts";
import { startModel } from "#sdk/runtime/start-model.ts";
import { embedCall } from "#sdk/runtime/tasks/embed.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { preparedTiny } from "../fixtures/prepared-tiny.ts";
import { workerModules } from "../fixtures/worker-modules.ts";

const FREQUENT = "Where is the house?";
/** A word whose token has one of the last rows of the token embedding table. */
const RARE = "necessitated";
const BUCKET = "models";

type Bytes = Uint8Array<ArrayBuffer>;

/** The published objects, by key. */
const objects = new Map<string, Bytes>();
let model: Model;
let modelKey: string;
let modules: Awaited<ReturnType<typeof workerModules>>;

beforeAll(async () => {
  const artifact = await openFolder(
    await preparedTiny(["edge"], { name: "early", config: { hidden_size: 96, vocab_size: 30_522 } }),
  );
  const { manifest } = artifact;
  await publish(artifact, memoryStore(objects));
  model = await startModel(artifact, await engineOnThisMachine("wasm"));
  modelKey = blobKey(manifest.files[manifest.targets.edge?.model ?? ""]?.sha256 ?? "");

  modules = await workerModules({ entryPoints: ["functions/edge.ts"] });
});

/**
 * Functions that complete the transfers of the model, one for each running transfer. A transfer stops after the first
 * chunk until its function is called. `change` can damage the remaining bytes.
 */
let held: ((change?: (rest: Bytes) => Bytes) => void)[];
let server: Server;
let worker: Miniflare;
let log: string[];

beforeEach(async () => {
  held = [];
  log = [];
  server = createServer((request, response) => {
    const key = decodeURIComponent(request.url ?? "").slice(`/${BUCKET}/`.length);
    const bytes = objects.get(key);
    if (!bytes) return response.writeHead(404).end();
    response.writeHead(200, { "content-length": bytes.length });
    if (key !== modelKey) return response.end(bytes);
    response.write(bytes.subarray(0, CHUNK_BYTES));
    return held.push((change = (rest) => rest) => response.end(change(bytes.subarray(CHUNK_BYTES))));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  worker = new Miniflare(
    convertV4MiniflareOptions({
      modules,
      modulesRoot: "/",
      compatibilityDate: "2026-11-01",
      bindings: {
        MODEL: "early",
        API_KEYS: "key",
        S3_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        S3_BUCKET: BUCKET,
        S3_ACCESS_KEY_ID: "id",
        S3_SECRET_ACCESS_KEY: "secret",
      },
      handleStructuredLogs: ({ message }) => void log.push(message),
    }),
  );
});
afterEach(async () => {
  await worker.dispose();
  server.closeAllConnections();
  server.close();
});
afterAll(() => model.release());

/**
 * Requests the vector of a text.
 *
 * @returns the vector, or the error's code
 */
async function ask(text: string): Promise<Float32Array | string> {
  const response = await worker.dispatchFetch("http://edge/v1/embed", {
    method: "POST",
    headers: { authorization: "Bearer key", "content-type": "application/json" },
    body: JSON.stringify({ inputs: [text] }),
  });
  const { embeddings, error } = (await response.json()) as { embeddings?: [number[]]; error: { code: string } };
  return embeddings ? Float32Array.from(embeddings[0]) : error.code;
}

async function vectorOf(text: string): Promise<Float32Array | undefined> {
  const [vector] = await model.call(embedCall([text]));
  return vector;
}

describe("the edge in workerd, before its model has arrived completely", () => {
  it("answers texts with frequent words at once, and texts with rare words when their rows have arrived", async () => {
    expect(await ask(FREQUENT)).toEqual(await vectorOf(FREQUENT));
    let isAnswered = false;
    const rare = ask(RARE).finally(() => {
      isAnswered = true;
    });
    // The edge answers this later request before the request with the rare word.
    expect(await ask(FREQUENT)).toEqual(await vectorOf(FREQUENT));
    expect(isAnswered).toBe(false);
    held[0]?.();
    expect(await rare).toEqual(await vectorOf(RARE));
    expect(held).toHaveLength(1);
    expect(log).toEqual([]);
  });

  it("uses no byte of a model that is damaged later on, and loads the model again", async () => {
    expect(await ask(FREQUENT)).toEqual(await vectorOf(FREQUENT));
    const rare = ask(RARE);
    // The edge has answered this later request, so the request with the rare word is waiting for the rest of the model.
    expect(await ask(FREQUENT)).toEqual(await vectorOf(FREQUENT));
    held[0]?.((rest) => rest.with(rest.length - 1, 1 ^ (rest.at(-1) as number)));
    expect(await rare).toBe("model_unavailable");

    expect(await ask(FREQUENT)).toEqual(await vectorOf(FREQUENT));
    expect(held).toHaveLength(2);
    held[1]?.();
    expect(await ask(RARE)).toEqual(await vectorOf(RARE));
    await expect.poll(() => log.join("\n")).toContain("artifact_corrupt");
  });
});
