import { inspect } from "node:util";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { bytesOf, smallArtifact, textOf } from "#test/fixtures/small-artifact.ts";
import { pointerKey } from "../artifact/keys.ts";
import { isSignatureOf, signedText } from "../artifact/signature.ts";
import { importSigningKey, newSigningKey, type SigningKey } from "../artifact/signing-key.ts";
import { memoryStore } from "./memory.ts";
import { publish } from "./publish.ts";
import { openPublished, readPointer } from "./published-artifact.ts";
import { type SignatureOptions, signedStore, signersFromEnv } from "./signed.ts";
import type { ManagedStore } from "./store.ts";
import { listVersions, promote } from "./versions.ts";
import type { Signing } from "./write-pointer.ts";

const DAY_MS = 86_400_000;
const CURRENT = pointerKey("small");
const contentType = "application/json";

let ours: SigningKey;
let theirs: SigningKey;
beforeAll(async () => {
  ours = await importSigningKey(await newSigningKey());
  theirs = await importSigningKey(await newSigningKey());
});

const signingBy = (key: SigningKey, days = 365): Signing => ({ key, expires: new Date(Date.now() + days * DAY_MS) });
const signed = (content: string, store: ManagedStore, key = ours) =>
  smallArtifact(content).then((artifact) => publish(artifact, store, { signing: signingBy(key) }));
const textAt = async (store: ManagedStore, key: string) => textOf((await readObject(store, key)) ?? new Uint8Array());
const trusting = (store: ManagedStore, options: Partial<SignatureOptions> = {}) =>
  signedStore(store, { signers: [ours.signer], ...options });
const refused = (what: RegExp) => ({ code: "signature_invalid", message: expect.stringMatching(what) });

describe("signedStore", () => {
  it("refuses a pointer that is nested too deeply for a signature", async () => {
    const store = memoryStore();
    await signed("a", store);
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const text = (await textAt(store, CURRENT)).replace("{", `{"more": ${deep},`);
    await store.put(CURRENT, bytesOf(text), { contentType });
    await expect(readPointer(trusting(store), "small")).rejects.toMatchObject(refused(/nested too deeply/));
  });

  it("opens a model that one of the signers has published", async () => {
    const store = memoryStore();
    const { version } = await signed("a", store);
    const reader = trusting(store, { signers: [theirs.signer, ours.signer] });
    expect((await readPointer(reader, "small")).version).toBe(version);
    expect((await openPublished(reader, await readPointer(reader, "small", version))).version).toBe(version);
  });

  it("refuses a model without a signature, and one of another signer", async () => {
    const store = memoryStore();
    await publish(await smallArtifact("a"), store);
    await expect(readPointer(trusting(store), "small")).rejects.toMatchObject(refused(/has no signature/));
    await signed("b", store, theirs);
    await expect(readPointer(trusting(store), "small")).rejects.toMatchObject(refused(/signed by ed25519:\w{64}, who/));
    expect((await readPointer(signedStore(store, undefined), "small")).name).toBe("small");
  });

  it("refuses any change of a pointer's content", async () => {
    const store = memoryStore();
    await signed("a", store);
    const text = await textAt(store, CURRENT);
    const pointer = JSON.parse(text) as Record<string, unknown>;
    const changes: Record<string, unknown>[] = [
      { sequence: (pointer["sequence"] as number) + 1 },
      { expires: "2999-01-01T00:00:00.000Z" },
      { measurements: {} },
      { added: 1 },
      { manifest: { ...(pointer["manifest"] as object), text: undefined } },
    ];
    for (const change of changes) {
      await store.put(CURRENT, bytesOf(JSON.stringify({ ...pointer, ...change })), { contentType });
      await expect(readPointer(trusting(store), "small")).rejects.toMatchObject(refused(/does not match/));
    }
    await store.put(CURRENT, bytesOf(JSON.stringify(pointer)), { contentType });
    expect((await readPointer(trusting(store), "small")).name).toBe("small");
  });

  it("accepts no damaged file, whichever byte is changed", async () => {
    const store = memoryStore();
    const { version } = await signed("a", store);
    const sound = bytesOf(await textAt(store, CURRENT));
    const meaning = JSON.stringify(JSON.parse(textOf(sound)));
    await fc.assert(
      fc.asyncProperty(fc.nat(sound.length - 1), fc.integer({ min: 1, max: 255 }), async (place, change) => {
        const damaged = Uint8Array.from(sound);
        damaged[place] = (damaged[place] as number) ^ change;
        await store.put(CURRENT, damaged, { contentType });
        const found = await readPointer(trusting(store), "small").catch(({ code }: { code: string }) => code);
        // A change between the values, such as another blank, leaves the content as it was.
        if (typeof found === "string") expect(["signature_invalid", "pointer_invalid"]).toContain(found);
        else expect([found.version, JSON.stringify(JSON.parse(textOf(damaged)))]).toEqual([version, meaning]);
      }),
      seeded(300),
    );
  });

  it("refuses the pointer of a version in the place of the current one", async () => {
    const store = memoryStore();
    const { version } = await signed("a", store);
    await signed("b", store);
    const old = await readObject(store, pointerKey("small", version));
    await store.put(CURRENT, old as Uint8Array<ArrayBuffer>, { contentType });
    await expect(readPointer(trusting(store), "small")).rejects.toMatchObject(refused(/does not match/));
  });

  it("refuses an older pointer that somebody puts back, once it has seen a newer one", async () => {
    const store = memoryStore();
    await signed("a", store);
    const old = bytesOf(await textAt(store, CURRENT));
    const { version } = await signed("b", store);
    const warm = trusting(store);
    const { sequence = 0 } = await readPointer(warm, "small");
    await store.put(CURRENT, old, { contentType });
    await expect(readPointer(warm, "small")).rejects.toMatchObject(
      refused(/sequence number \d+, but must have at least \d+/),
    );
    await expect(readPointer(trusting(store, { minSequence: sequence }), "small")).rejects.toMatchObject(
      refused(/sequence number/),
    );
    // What stays open: a reader that has seen nothing, and has no minimum, accepts it until it expires.
    expect((await readPointer(trusting(store), "small")).version).not.toBe(version);
    const afterAYear = () => Date.now() + 366 * DAY_MS;
    await expect(readPointer(trusting(store, { now: afterAYear }), "small")).rejects.toMatchObject(
      refused(/has expired/),
    );
  });

  it("refuses the own pointer of a version like that to the current one: expired, below the minimum, or put back", async () => {
    const store = memoryStore();
    const { version } = await signed("a", store);
    const old = bytesOf(await textAt(store, pointerKey("small", version)));
    const { sequence = 0 } = await readPointer(trusting(store), "small", version);
    await signed("b", store);
    const pinned = (options: Partial<SignatureOptions>) => readPointer(trusting(store, options), "small", version);
    expect((await pinned({ minSequence: sequence })).version).toBe(version);
    await expect(pinned({ minSequence: sequence + 1 })).rejects.toMatchObject(refused(/sequence number/));
    await expect(pinned({ now: () => Date.now() + 366 * DAY_MS })).rejects.toMatchObject(refused(/has expired/));
    const warm = trusting(store);
    await promote(store, "small", version, { signing: signingBy(ours) });
    await readPointer(warm, "small", version);
    await store.put(pointerKey("small", version), old, { contentType });
    await expect(readPointer(warm, "small", version)).rejects.toMatchObject(refused(/sequence number/));
  });

  it("refuses a pointer that never expires", async () => {
    const store = memoryStore();
    await publish(await smallArtifact("a"), store);
    const pointer = { ...(JSON.parse(await textAt(store, CURRENT)) as object), sequence: 1 };
    const signature = { signer: ours.signer, value: await ours.sign(signedText(CURRENT, pointer)) };
    await store.put(CURRENT, bytesOf(JSON.stringify({ ...pointer, signature })), { contentType });
    await expect(readPointer(trusting(store), "small")).rejects.toMatchObject(refused(/has no expiry date/));
  });

  it("has a minimum for each model", async () => {
    const store = memoryStore();
    await signed("a", store);
    const { sequence = 0 } = await readPointer(trusting(store), "small");
    const minSequences = new Map([["other", sequence + 9]]);
    expect((await readPointer(trusting(store, { minSequences, minSequence: sequence }), "small")).name).toBe("small");
    const both = trusting(store, { minSequences: new Map([["small", sequence + 1]]), minSequence: 0 });
    await expect(readPointer(both, "small")).rejects.toMatchObject(refused(/sequence number/));
  });

  it("refuses two pointers with the same sequence number", async () => {
    const [store, other] = [memoryStore(), memoryStore()];
    const { now } = Date;
    const second = now();
    Date.now = () => second;
    try {
      await signed("a", store);
      await signed("b", other);
    } finally {
      Date.now = now;
    }
    const warm = trusting(store);
    await readPointer(warm, "small");
    await readPointer(warm, "small");
    await store.put(CURRENT, bytesOf(await textAt(other, CURRENT)), { contentType });
    await expect(readPointer(warm, "small")).rejects.toMatchObject(refused(/of another pointer/));
  });
});

describe("publish and promote with a key", () => {
  it("sign with a sequence number that rises, also after a rollback", async () => {
    const store = memoryStore();
    const { version: a } = await signed("a", store);
    const numbers: number[] = [];
    const note = async () => numbers.push((await readPointer(trusting(store), "small")).sequence ?? 0);
    await note();
    const { version: b } = await signed("b", store);
    await note();
    for (const version of [a, b]) {
      await promote(trusting(store), "small", version, { signing: signingBy(ours) });
      await note();
      expect((await readPointer(trusting(store), "small")).version).toBe(version);
    }
    expect(numbers).toEqual([...new Set(numbers)].sort((x, y) => x - y));
    const [current] = (await listVersions(store)).filter(({ isCurrent }) => isCurrent);
    expect(current?.signed).toMatchObject({ signer: ours.signer, sequence: numbers.at(-1) });
  });

  it("do not replace a signed version by an unsigned one", async () => {
    const store = memoryStore();
    const { version } = await signed("a", store);
    const missing = { code: "signing_key_missing" };
    await expect(publish(await smallArtifact("b"), store)).rejects.toMatchObject(missing);
    await expect(promote(store, "small", version)).rejects.toMatchObject(missing);
    expect((await readPointer(trusting(store), "small")).version).toBe(version);
  });

  it("sign nothing that somebody else has put into the store", async () => {
    const store = memoryStore();
    await signed("a", store);
    const { version } = await publish(await smallArtifact("b"), memoryStore());
    const elsewhere = memoryStore();
    await publish(await smallArtifact("b"), elsewhere);
    for await (const { key } of elsewhere.list("")) {
      if (key === CURRENT) continue;
      await store.put(key, (await readObject(elsewhere, key)) as Uint8Array<ArrayBuffer>, { contentType });
    }
    await expect(promote(trusting(store), "small", version, { signing: signingBy(ours) })).rejects.toMatchObject(
      refused(/has no signature/),
    );
  });

  it("sign a version again whose signature has expired", async () => {
    const store = memoryStore();
    const artifact = await smallArtifact("a");
    const { version } = await publish(artifact, store, { signing: signingBy(ours, -1) });
    await expect(readPointer(trusting(store), "small")).rejects.toMatchObject(refused(/has expired/));
    await promote(store, "small", version, { signing: signingBy(ours) });
    expect((await readPointer(trusting(store), "small")).version).toBe(version);
    expect((await readPointer(trusting(store), "small", version)).version).toBe(version);
  });

  it("verify what they sign, also in a store that was not told to", async () => {
    const store = memoryStore();
    const { version } = await publish(await smallArtifact("a"), store);
    await expect(promote(store, "small", version, { signing: signingBy(ours) })).rejects.toMatchObject(
      refused(/has no signature/),
    );
  });

  it("take no number from a pointer that they cannot verify: a version stays older than its fix", async () => {
    const store = memoryStore();
    await signed("a", store);
    const sound = await textAt(store, CURRENT);
    const sequence = Math.floor(Date.now() / 1000) + 80_000;
    const planted = [
      JSON.stringify({ ...(JSON.parse(sound) as object), sequence }),
      JSON.stringify({ ...(JSON.parse(sound) as object), sequence, signature: undefined }),
      sound.replace(ours.signer, theirs.signer),
    ];
    for (const text of planted) {
      await store.put(CURRENT, bytesOf(text), { contentType });
      const before = Math.floor(Date.now() / 1000);
      await signed("a", store);
      const old = bytesOf(await textAt(store, CURRENT));
      await store.remove(CURRENT);
      const { now } = Date;
      Date.now = () => now() + 60_000;
      const { version } = await signed("b", store).finally(() => {
        Date.now = now;
      });
      const { sequence: newest = 0 } = await readPointer(trusting(store), "small");
      expect(newest).toBeLessThan(before + 600);
      await store.put(CURRENT, old, { contentType });
      await expect(readPointer(trusting(store, { minSequence: newest }), "small")).rejects.toMatchObject(
        refused(/sequence number/),
      );
      await promote(store, "small", version, { signing: signingBy(ours) });
    }
  });

  it("sign with a higher number than that of a pointer that they can verify, also if a clock was ahead", async () => {
    const store = memoryStore();
    const { now } = Date;
    Date.now = () => now() + 400 * DAY_MS;
    await signed("a", store).finally(() => {
      Date.now = now;
    });
    const warm = trusting(store);
    await readPointer(warm, "small");
    const { version } = await signed("b", store);
    expect((await readPointer(warm, "small")).version).toBe(version);
  });

  it("sign a version with a higher number than its own pointer has, also if that to the current one is gone", async () => {
    const store = memoryStore();
    const { now } = Date;
    Date.now = () => now() + 400 * DAY_MS;
    const { version } = await signed("a", store).finally(() => {
      Date.now = now;
    });
    const warm = trusting(store);
    await readPointer(warm, "small");
    await store.put(CURRENT, bytesOf("{"), { contentType });
    await promote(store, "small", version, { signing: signingBy(ours) });
    expect((await readPointer(warm, "small")).version).toBe(version);
  });

  it("refuse a signed sequence number that is far ahead of the clock", async () => {
    const store = memoryStore();
    const { now } = Date;
    Date.now = () => now() + 4_000 * DAY_MS;
    await signed("a", store).finally(() => {
      Date.now = now;
    });
    await expect(signed("b", store)).rejects.toMatchObject({
      ...refused(/more than ten years ahead/),
      hint: expect.stringContaining("Correct the clock"),
    });
  });

  it("replace a pointer with a made-up sequence number as if it had none", async () => {
    const store = memoryStore();
    await publish(await smallArtifact("a"), store);
    const pointer = JSON.parse(await textAt(store, CURRENT)) as object;
    const planted = bytesOf(JSON.stringify({ ...pointer, sequence: Number.MAX_SAFE_INTEGER }));
    await store.put(CURRENT, planted, { contentType });
    const { version } = await signed("b", store);
    expect((await readPointer(trusting(store), "small")).version).toBe(version);
  });

  it("replace a pointer that is damaged, or not signed", async () => {
    for (const text of ["{", await textAt(await withModel(), CURRENT)]) {
      const store = memoryStore();
      await store.put(CURRENT, bytesOf(text), { contentType });
      const { version } = await publish(await smallArtifact("b"), trusting(store), { signing: signingBy(ours) });
      expect((await readPointer(trusting(store), "small")).version).toBe(version);
    }
  });
});

async function withModel(): Promise<ManagedStore> {
  const store = memoryStore();
  await publish(await smallArtifact("a"), store);
  return store;
}

describe("signersFromEnv", () => {
  it("reads keys and the lowest sequence number; without keys, nothing is checked", () => {
    expect([signersFromEnv({}), signersFromEnv({ MODEL_SIGNERS: "any" })]).toEqual([undefined, undefined]);
    const two = `${ours.signer}, ${theirs.signer}`;
    expect(signersFromEnv({ MODEL_SIGNERS: two, MODEL_MIN_SEQUENCE: "12" })).toEqual({
      signers: [ours.signer, theirs.signer],
      minSequence: 12,
    });
    expect(signersFromEnv({ MODEL_SIGNERS: ours.signer, MODEL_MIN_SEQUENCE: "mini=5, 12,base=7" })).toEqual({
      signers: [ours.signer],
      minSequence: 12,
      minSequences: new Map([
        ["mini", 5],
        ["base", 7],
      ]),
    });
  });

  it.each([
    [{ MODEL_SIGNERS: "" }, /MODEL_SIGNERS contains ""/],
    [{ MODEL_SIGNERS: "ed25519:12" }, /MODEL_SIGNERS contains "ed25519:12"/],
  ])("refuses %j, so that a mistake does not switch the check off", (env, message) => {
    expect(() => signersFromEnv(env)).toThrow(
      expect.objectContaining({ code: "setting_invalid", message: expect.stringMatching(message) }),
    );
  });

  it.each(["-1", "", "x", "1e3", "1,2", "a=1,a=2", "A b=1", "a=", "9".repeat(16)])(
    "refuses %j as the minimum sequence number",
    (MODEL_MIN_SEQUENCE) => {
      expect(() => signersFromEnv({ MODEL_SIGNERS: ours.signer, MODEL_MIN_SEQUENCE })).toThrow(
        expect.objectContaining({ message: expect.stringContaining("MODEL_MIN_SEQUENCE contains") }),
      );
    },
  );
});

it("a signature is Ed25519 over the key, a newline and the JSON without the signature", async () => {
  const store = memoryStore();
  await signed("a", store);
  const { signature, ...pointer } = JSON.parse(await textAt(store, CURRENT)) as { signature: { value: string } };
  expect(await isSignatureOf(ours.signer, signature.value, `${CURRENT}\n${JSON.stringify(pointer)}`)).toBe(true);
  expect(signedText(CURRENT, { ...pointer, signature })).toBe(`${CURRENT}\n${JSON.stringify(pointer)}`);
});

it.each(["", "key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"])(
  "refuses %j as a signing key, without showing it",
  async (pem) => {
    const error = await importSigningKey(pem).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "signing_key_invalid" });
    expect(inspect(error)).not.toContain("AAAA");
  },
);
