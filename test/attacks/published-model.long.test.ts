import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { blobKey, pointerKey } from "#sdk/artifact/keys.ts";
import type { Pointer } from "#sdk/artifact/pointer.ts";
import { importSigningKey, newSigningKey } from "#sdk/artifact/signing-key.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { readPointer } from "#sdk/storage/published-artifact.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import { readObject } from "#sdk/storage/read-object.ts";
import type { ManagedStore, ObjectStore } from "#sdk/storage/store.ts";
import type { Signing } from "#sdk/storage/write-pointer.ts";
import { NAME, type TwoVersions, twoVersions } from "../faults/two-versions.ts";
import { clockedEdge } from "../fixtures/clocked-edge.ts";
import { bytesOf, textOf } from "../fixtures/small-artifact.ts";

const contentType = "application/octet-stream";
const DAY_MS = 86_400_000;

/** Isolates of one workerd process: each test takes a new one or several. */
const ISOLATES = 20;
const isolates = Array.from({ length: ISOLATES }, (_, i) => `isolate-${i}`);

let versions: TwoVersions;
let signing: Signing;
let workerd: Miniflare;
let store: ManagedStore;
let log: string[] = [];
beforeAll(async () => {
  versions = await twoVersions();
  const key = await importSigningKey(await newSigningKey());
  signing = { key, expires: new Date(Date.now() + DAY_MS) };
  const worker = {
    modules: await clockedEdge("...settings"),
    modulesRoot: "/",
    compatibilityDate: "2026-11-01",
    bindings: { MODEL: NAME, API_KEYS: "key", MODEL_SIGNERS: signing.key.signer },
    r2Buckets: ["MODELS"],
  };
  workerd = new Miniflare(
    convertV4MiniflareOptions({
      workers: isolates.map((name) => ({ name, ...worker })),
      handleStructuredLogs: ({ message }) => void log.push(message),
    }),
  );
  store = r2Publisher((await workerd.getR2Bucket("MODELS", isolates[0])) as unknown as WritableR2Bucket);
});
afterAll(() => workerd?.dispose());

let isolate: { fetch: Miniflare["dispatchFetch"] };

/** Goes on with a new isolate that wants signatures. It has seen no pointer. */
async function startCold(variables: Record<string, string> = {}): Promise<void> {
  isolate = (await workerd.getWorker(isolates.pop())) as unknown as typeof isolate;
  await isolate.fetch("http://edge/variables", { method: "POST", body: JSON.stringify(variables) });
  log = [];
}
beforeEach(async () => {
  for await (const { key } of store.list("")) await store.remove(key);
  await startCold();
});

const laterByAMinute = () => isolate.fetch("http://edge/minute-later");

/** Returns the version that answers, or the code of the error. */
async function ask(model = NAME): Promise<string> {
  const response = await isolate.fetch("http://edge/v1/embed", {
    method: "POST",
    headers: { authorization: "Bearer key", "content-type": "application/json" },
    body: JSON.stringify({ inputs: ["a"], model }),
  });
  const outcome = await versions.outcomeOf(response as unknown as Response, "a");
  if (typeof outcome === "string") return outcome;
  return "code" in outcome ? outcome.code : outcome.wrong;
}

const put = (key: string, bytes: Uint8Array<ArrayBuffer>) => store.put(key, bytes, { contentType });
const contentOf = async (key: string, from: ObjectStore = store) =>
  (await readObject(from, key, 1e9)) ?? new Uint8Array();
const logged = (code: string) => expect.poll(() => log.join("\n")).toContain(code);

describe("who can write to the bucket", () => {
  it("cannot change weights: no vector comes of them", async () => {
    await publish(versions.old, store, { signing });
    const { model = "" } = versions.old.manifest.targets.edge ?? {};
    const key = blobKey(versions.old.manifest.files[model]?.sha256 ?? "");
    const tampered = await contentOf(key);
    tampered[tampered.length - 5] = (tampered.at(-5) as number) ^ 1;
    await put(key, tampered);
    expect(await ask()).toBe("model_unavailable");
    await logged("artifact_corrupt");
  });

  it("cannot publish a model of their own, with or without a signature", async () => {
    await publish(versions.new, store);
    expect(await ask()).toBe("model_unavailable");
    await logged("has no signature");
    const theirs = { ...signing, key: await importSigningKey(await newSigningKey()) };
    await publish(versions.new, store, { signing: theirs });
    await laterByAMinute();
    expect(await ask()).toBe("model_unavailable");
    await logged("who is not in MODEL_SIGNERS");
  });

  it("cannot swap the manifest of a signed pointer", async () => {
    await publish(versions.old, store, { signing });
    const ours = JSON.parse(textOf(await contentOf(pointerKey(NAME)))) as object;
    const theirs = memoryStore();
    await publish(versions.new, theirs);
    for await (const { key } of theirs.list("blobs/")) await put(key, await contentOf(key, theirs));
    const { version, manifest } = JSON.parse(textOf(await contentOf(pointerKey(NAME), theirs))) as Pointer;
    await put(pointerKey(NAME), bytesOf(JSON.stringify({ ...ours, version, manifest })));
    expect(await ask()).toBe("model_unavailable");
    await logged("does not match its signature");
  });

  it("cannot bring an old version back while an isolate runs", async () => {
    await publish(versions.old, store, { signing });
    const old = await contentOf(pointerKey(NAME));
    expect(await ask()).toBe("old");
    await publish(versions.new, store, { signing });
    await laterByAMinute();
    await expect.poll(() => ask()).toBe("new");
    await put(pointerKey(NAME), old);
    await laterByAMinute();
    expect(await ask()).toBe("new");
    await logged("sequence number");
    expect(await ask()).toBe("new");
  });

  it("can bring an old version back in a new isolate, but not below MODEL_MIN_SEQUENCE", async () => {
    await publish(versions.old, store, { signing });
    const old = await contentOf(pointerKey(NAME));
    await publish(versions.new, store, { signing });
    const { sequence } = await readPointer(store, NAME);
    await put(pointerKey(NAME), old);
    await startCold();
    expect(await ask()).toBe("old");
    for (const minimum of [`${sequence}`, `${NAME}=${sequence},other=0`]) {
      await startCold({ MODEL_MIN_SEQUENCE: minimum });
      expect(await ask()).toBe("model_unavailable");
      await logged("sequence number");
    }
  });

  it("cannot make a version outrank its fix with a sequence number of their own", async () => {
    await publish(versions.old, store, { signing });
    const signed = JSON.parse(textOf(await contentOf(pointerKey(NAME)))) as Pointer;
    const sequence = (signed.sequence ?? 0) + 300_000_000;
    await put(pointerKey(NAME), bytesOf(JSON.stringify({ ...signed, sequence })));
    await publish(versions.old, store, { signing });
    const old = await contentOf(pointerKey(NAME));
    const { sequence: own = 0 } = await readPointer(store, NAME, versions.old.version);
    expect(own).toBeLessThan(sequence);
    await store.remove(pointerKey(NAME));
    const later = Date.now() + 60_000;
    const clock = vi.spyOn(Date, "now").mockReturnValue(later);
    await publish(versions.new, store, { signing }).finally(() => clock.mockRestore());
    const { sequence: fixed } = await readPointer(store, NAME);
    await put(pointerKey(NAME), old);
    await startCold({ MODEL_MIN_SEQUENCE: `${fixed}` });
    expect(await ask()).toBe("model_unavailable");
    await logged("sequence number");
  });

  it("can bring back a version that gc has removed, for callers who name it, but not below MODEL_MIN_SEQUENCE", async () => {
    const { version } = await publish(versions.old, store, { signing });
    const own = await contentOf(pointerKey(NAME, version));
    await publish(versions.new, store, { signing });
    const { sequence } = await readPointer(store, NAME);
    await store.remove(pointerKey(NAME, version));
    const named = `${NAME}@${version}`;
    expect(await ask(named)).toBe("model_unknown");
    await put(pointerKey(NAME, version), own);
    await startCold();
    expect(await ask(named)).toBe("old");
    await startCold({ MODEL_MIN_SEQUENCE: `${NAME}=${sequence}` });
    expect(await ask(named)).toBe("model_unavailable");
    await logged("sequence number");
    expect(await ask()).toBe("new");
  });

  it("cannot bring a version back whose signature has expired, by its name or not", async () => {
    const soon = { ...signing, expires: new Date(Date.now() + 50_000) };
    const { version } = await publish(versions.old, store, { signing: soon });
    for (const model of [NAME, `${NAME}@${version}`]) {
      await startCold();
      await laterByAMinute();
      expect(await ask(model)).toBe("model_unavailable");
      await logged("has expired");
    }
  });
});

it("what a signer publishes is served", async () => {
  await publish(versions.new, store, { signing });
  expect(await ask()).toBe("new");
});
