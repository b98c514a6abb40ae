import { pointerKey } from "#sdk/artifact/keys.ts";
import { signedText } from "#sdk/artifact/signature.ts";
import { importSigningKey, newSigningKey } from "#sdk/artifact/signing-key.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { openPublished, readPointer } from "#sdk/storage/published-artifact.ts";
import { signedStore } from "#sdk/storage/signed.ts";
import { readObject } from "#test/fixtures/read-object.ts";
import { smallArtifact, textOf } from "../../fixtures/small-artifact.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import type { Json } from "../damage-json.ts";
import { damagedJsonText } from "../damaged-json-text.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

const KEY = pointerKey("small");
const contentType = "application/json";

/** Pointers, signed or not. A store that wants signatures must accept only pointers whose content is unchanged. */
export const pointer: Target = {
  runs: { long: 100_000, short: 400 },
  refusals: ["pointer_invalid", "signature_invalid", "artifact_corrupt"],
  async start() {
    const key = await importSigningKey(await newSigningKey());
    const store = memoryStore();
    await publish(await smallArtifact(), store, { signing: { key, expires: new Date(Date.now() + 1e10) } });
    const text = textOf((await readObject(store, KEY)) ?? new Uint8Array());
    const sound = JSON.parse(text) as Json;
    const signed = signedStore(store, { signers: [key.signer] });
    return (seed) => {
      const choice = new SeededChoice(seed);
      const damaged = choice.below(4) === 0 ? damagedBytes(Buffer.from(text), choice) : damagedOf(sound, choice);
      return outcome(async () => {
        await store.put(KEY, damaged, { contentType });
        const wantsSignature = choice.below(2) === 0;
        const found = await readPointer(wantsSignature ? signed : store, "small");
        const isSigned = () => signedText(KEY, JSON.parse(textOf(damaged))) === signedText(KEY, Object(sound));
        if (wantsSignature && !isSigned())
          throw new Error(`The signature of another pointer is accepted: ${textOf(damaged)}`);
        await openPublished(store, found);
      });
    };
  },
};

const damagedOf = (sound: Json, choice: SeededChoice) => new Uint8Array(Buffer.from(damagedJsonText(sound, choice)));
