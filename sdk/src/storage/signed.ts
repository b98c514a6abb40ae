import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { ModelName } from "../artifact/manifest.ts";
import { parsePointer } from "../artifact/pointer.ts";
import { isSignatureOf, Signer, signedText } from "../artifact/signature.ts";
import type { ObjectStore } from "./store.ts";

export type { ObjectStore };

/** Requirements of a deployment for the signatures of models. */
export interface SignatureOptions {
  /** Public keys, as `bert-edge keys signer` prints them. */
  readonly signers: readonly string[];
  /** Minimum sequence number of pointers. Default 0. */
  readonly minSequence?: number;
  /** Minimum sequence numbers by model, instead of `minSequence`. */
  readonly minSequences?: ReadonlyMap<string, number>;
  readonly now?: () => number;
}

/** Variables of a deployment that loads only signed models. */
export interface SignersEnv {
  /** Public keys of those who may publish models, separated by commas. Default `any`: models need no signature. */
  MODEL_SIGNERS?: string | undefined;
  /**
   * Minimum sequence number of pointers: a number for all models, `name=number` for one of them, or several of these, separated by
   * commas. Default: 0.
   */
  MODEL_MIN_SEQUENCE?: string | undefined;
}

/**
 * Makes a store whose models must be signed by one of the signers. A pointer must also not be expired. Its sequence number must not be
 * lower than the minimum, or than a number that this store has seen under the same key. Hashes bind all other objects of a model to
 * its pointer.
 *
 * @param options undefined: models need no signature
 */
export function signedStore<Store extends ObjectStore>(store: Store, options: SignatureOptions | undefined): Store {
  if (!options) return store;
  const { signers, minSequence = 0, minSequences, now = Date.now } = options;
  /** The newest pointer that was accepted under each key. */
  const seen = new Map<string, { readonly sequence: number; readonly signature: string }>();
  return {
    ...store,
    async verifyPointer(key, text) {
      const place = `${store.name}/${key}`;
      const { name, sequence, expires, signature } = await signedPointer(key, text, place, signers);
      // `Date.parse` returns NaN for a missing or impossible date. Then the comparison is false, too.
      if (!(Date.parse(expires ?? "") > now())) {
        const when = expires === undefined ? "has no expiry date" : `has expired at ${expires}`;
        throw invalid(place, when, "Sign it again: `bert-edge promote` its version.");
      }
      const newest = seen.get(key) ?? { sequence: 0, signature };
      const minimum = Math.max(minSequences?.get(name) ?? minSequence, newest.sequence);
      if (sequence < minimum) {
        const why = `has the sequence number ${sequence}, but must have at least ${minimum}`;
        throw invalid(place, why, "It is an older pointer. Publish or promote the wanted version again.");
      }
      if (sequence === newest.sequence && signature !== newest.signature) {
        const why = `repeats the sequence number ${sequence} of another pointer`;
        throw invalid(place, why, "Publish or promote the wanted version again: this gives it a higher number.");
      }
      seen.set(key, { sequence, signature });
    },
  };
}

/**
 * Makes a store whose models must be signed by one of the signers, for commands that sign pointers again. Unlike `signedStore`, accepts
 * pointers that are expired or older than others.
 */
export const anyAgeStore = <Store extends ObjectStore>(store: Store, signers: readonly string[]): Store => ({
  ...store,
  verifyPointer: async (key, text) => void (await signedPointer(key, text, `${store.name}/${key}`, signers)),
});

/** Checks that one of the signers has signed a pointer, and that nobody has changed it. Returns its name and what signing has added. */
async function signedPointer(key: string, text: string, place: string, signers: readonly string[]) {
  const { name, signature, sequence = 0, expires } = parsePointer(text, place);
  if (!signature) {
    throw invalid(place, "has no signature", "Publish the model with --signing-key, or remove MODEL_SIGNERS.");
  }
  const { signer, value } = signature;
  if (!signers.includes(signer)) {
    throw invalid(place, `is signed by ${signer}, who is not in MODEL_SIGNERS`, "Add this key if you trust it.");
  }
  if (!(await isSignatureOf(signer, value, textToVerify(key, text, place)))) {
    throw invalid(place, "does not match its signature", "Somebody has changed it. Publish the model again.");
  }
  return { name, sequence, expires, signature: value };
}

/** Returns the signed text of a pointer. `JSON.stringify` makes it, and fails on deeply nested JSON that `JSON.parse` accepts. */
function textToVerify(key: string, text: string, place: string): string {
  try {
    return signedText(key, JSON.parse(text));
  } catch {
    throw invalid(place, "is nested too deeply", "Somebody has changed it. Publish the model again.");
  }
}

const invalid = (place: string, what: string, hint: string) =>
  new BertEdgeError("signature_invalid", `The pointer ${place} ${what}.`, { hint });

/**
 * Reads the options of `signedStore` from environment variables.
 *
 * @returns undefined if models need no signature
 * @throws BertEdgeError `setting_invalid`
 */
export function signersFromEnv({ MODEL_SIGNERS, MODEL_MIN_SEQUENCE = "0" }: SignersEnv): SignatureOptions | undefined {
  if (MODEL_SIGNERS === undefined || MODEL_SIGNERS === "any") return undefined;
  const signers = MODEL_SIGNERS.split(",").map((signer) => signer.trim());
  const wrong = signers.find((signer): boolean => !v.is(Signer, signer));
  if (wrong !== undefined) {
    throw new BertEdgeError(
      "setting_invalid",
      `MODEL_SIGNERS contains ${JSON.stringify(wrong.slice(0, 80))}, which is not a public key.`,
      {
        hint: "Give the keys that `bert-edge keys signer` prints, such as ed25519:<64 digits>, separated by commas.",
      },
    );
  }
  return { signers, ...minimums(MODEL_MIN_SEQUENCE) };
}

const SEQUENCE = /^(?:(?<name>[^=]+)=)?(?<digits>\d{1,15})$/;

function minimums(setting: string): Pick<SignatureOptions, "minSequence" | "minSequences"> {
  let minSequence: number | undefined;
  const minSequences = new Map<string, number>();
  for (const entry of setting.split(",")) {
    const { name, digits } = SEQUENCE.exec(entry.trim())?.groups ?? {};
    const isNumber = digits !== undefined && (name === undefined || v.is(ModelName, name));
    const isTwice = isNumber && (name === undefined ? minSequence !== undefined : minSequences.has(name));
    if (!isNumber || isTwice) {
      throw new BertEdgeError(
        "setting_invalid",
        `MODEL_MIN_SEQUENCE contains ${JSON.stringify(entry.slice(0, 80))}${isTwice ? `, a second number for ${name ?? "all models"}` : ", which is not a sequence number"}.`,
        {
          hint: "Give a sequence number, as `bert-edge list` shows it, or name=number for each model, separated by commas.",
        },
      );
    }
    if (name === undefined) minSequence = Number(digits);
    else minSequences.set(name, Number(digits));
  }
  return { ...(minSequence !== undefined && { minSequence }), ...(minSequences.size > 0 && { minSequences }) };
}
