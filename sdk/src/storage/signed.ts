import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { pointerKey } from "../artifact/keys.ts";
import { parsePointer } from "../artifact/pointer.ts";
import { isSignatureOf, Signer, signedText } from "../artifact/signature.ts";
import type { ObjectStore } from "./store.ts";

export type { ObjectStore };

/** Whose models a deployment loads. */
export interface SignatureOptions {
  /** Public keys, as `bert-edge keys signer` prints them. */
  readonly signers: readonly string[];
  /** The lowest sequence number of a pointer to a current version. Default 0. */
  readonly minSequence?: number;
  readonly now?: () => number;
}

/** Variables of a deployment that loads only signed models. */
export interface SignersEnv {
  /** Public keys of those who may publish models, separated by commas. `any`, and the default: models need no signature. */
  MODEL_SIGNERS?: string | undefined;
  /** The lowest sequence number of a pointer to a current version. Default: 0. */
  MODEL_MIN_SEQUENCE?: string | undefined;
}

/**
 * Makes a store whose models must be signed by one of the signers. Pointers to a current version must also not be expired, and their
 * sequence number must not be lower than `minSequence`, or than one that this store has seen. Everything else of a model is
 * bound to its pointer by hashes.
 *
 * @param options undefined: models need no signature
 */
export function signedStore<Store extends ObjectStore>(store: Store, options: SignatureOptions | undefined): Store {
  if (!options) return store;
  const { signers, minSequence = 0, now = Date.now } = options;
  /** Highest sequence number of each current version so far, by its key. */
  const seen = new Map<string, number>();
  return {
    ...store,
    async verifyPointer(key, text) {
      const place = `${store.name}/${key}`;
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
      if (key !== pointerKey(name)) return;
      if (expires !== undefined && Date.parse(expires) <= now()) {
        throw invalid(place, `has expired at ${expires}`, "Sign it again: `bert-edge promote` its version.");
      }
      const lowest = Math.max(minSequence, seen.get(key) ?? 0);
      if (sequence < lowest) {
        const why = `has the sequence number ${sequence}, but ${lowest} is known`;
        throw invalid(place, why, "It is an older pointer. Publish or promote the wanted version again.");
      }
      seen.set(key, sequence);
    },
  };
}

/** `JSON.parse` reads any depth, but `JSON.stringify`, with which pointers are signed, recurses. */
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
    throw new BertEdgeError("setting_invalid", `MODEL_SIGNERS contains ${JSON.stringify(wrong.slice(0, 80))}.`, {
      hint: "Give the keys that `bert-edge keys signer` prints, such as ed25519:<64 digits>, separated by commas.",
    });
  }
  const minSequence = Number(MODEL_MIN_SEQUENCE);
  if (Number.isSafeInteger(minSequence) && minSequence >= 0) return { signers, minSequence };
  throw new BertEdgeError("setting_invalid", `MODEL_MIN_SEQUENCE is ${JSON.stringify(MODEL_MIN_SEQUENCE)}.`, {
    hint: "Give a sequence number, as `bert-edge list` shows it.",
  });
}
