import { describe, expect, it } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { importSigningKey, newSigningKey } from "../artifact/signing-key.ts";
import { type Assets, assetsStore, type ObjectStore } from "./assets.ts";
import { memoryStore } from "./memory.ts";
import { publish } from "./publish.ts";
import { readPointer } from "./published-artifact.ts";
import { signedStore } from "./signed.ts";

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
  it("takes the pointers that it is given, and reads everything else", async () => {
    const signing = { key: await importSigningKey(await newSigningKey()), expires: new Date("2126-01-01") };
    const bySigner = <Store extends ObjectStore>(store: Store) => signedStore(store, { signers: [signing.key.signer] });
    const artifact = await smallArtifact();
    const objects = memoryStore();
    const { name, version } = await publish(artifact, objects, { signing });
    const key = `models/${name}/current.json`;
    const pointer = JSON.parse(new TextDecoder().decode(await readObject(objects, key)));
    const urls: string[] = [];
    const asked: Assets = {
      async fetch(url) {
        urls.push(url);
        const bytes = await readObject(objects, new URL(url).pathname.slice(1));
        return new Response(bytes, { status: bytes ? 200 : 404 });
      },
    };
    const store = bySigner(assetsStore(asked, { pointers: [pointer] }));
    expect(await readPointer(store, name)).toMatchObject({ version });
    expect(urls).toEqual([]);
    expect(await readPointer(store, name, version)).toMatchObject({ version });
    expect(urls).toEqual([`https://assets/models/${name}/${version}.json`]);
    const changed = bySigner(assetsStore(asked, { pointers: [{ ...pointer, sequence: 8 }] }));
    await expect(readPointer(changed, name)).rejects.toMatchObject({ code: "signature_invalid" });
    const other = assetsStore(asked, { pointers: [{ name }] });
    await expect(readPointer(other, name)).rejects.toMatchObject({ code: "pointer_invalid" });
  });

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
