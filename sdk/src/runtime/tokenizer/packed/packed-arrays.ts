import type { Dtype } from "../../../artifact/safetensors.ts";
import type { TokenizerSettings } from "./packed-settings.ts";

/** Array types of unsigned integers, by their names in safetensors. */
export const integerTypes = { U8: Uint8Array, U16: Uint16Array, U32: Uint32Array } as const satisfies Partial<
  Record<Dtype, unknown>
>;
/** Array of unsigned integers with 8, 16 or 32 bits. */
export type IntegerArray = InstanceType<(typeof integerTypes)[keyof typeof integerTypes]>;

// Names of the arrays of each tokenizer kind. The files that open the arrays describe the contents: code-points.ts,
// automaton.ts, word-piece/characters.ts, byte-level/merges.ts, bpe/character-units.ts,
// normalizers/charsmap.ts and unigram/vocabulary.ts.
const codePoints = ["pageOf", "pages"] as const;
const normalizing = [...codePoints, "pairs", "pairResults", "results"] as const;
const merging = ["byteIds", "rightStart", "rights", "ranks", "merged"] as const;
const automaton = ["edgeStart", "labels", "targets", "accepts", "ids"] as const;

/** Names of the integer arrays of each tokenizer kind. */
export const integerArrays = {
  wordpiece: [...codePoints, "resultStart", "symbols", ...automaton],
  "byte-level": [...normalizing, ...merging],
  unigram: [...normalizing, ...automaton, "codePageOf", "codePages", "byteIds"],
  bpe: [...normalizing, "codePageOf", "codePages", ...merging],
} as const satisfies Record<TokenizerSettings["kind"], readonly string[]>;

/** Names of the float64 arrays of each tokenizer kind. */
export const floatArrays = { wordpiece: [], "byte-level": [], unigram: ["scores"], bpe: [] } as const satisfies Record<
  TokenizerSettings["kind"],
  readonly string[]
>;

type Kind = TokenizerSettings["kind"];

/** Arrays of a tokenizer kind, by name. */
export type TokenizerArrays<K extends Kind = Kind> = {
  readonly [name in (typeof integerArrays)[K][number]]: IntegerArray;
} & { readonly [name in (typeof floatArrays)[K][number]]: Float64Array };
