import type { Manifest } from "../artifact/manifest.ts";
import { type PairScorer, pairScorer } from "./tasks/pair-scorer.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/** Settings of a model's folder that decide how texts are read and how outputs are processed. The keys are those of `/info`. */
export interface ModelReading {
  readonly max_tokens: number;
  /** End at which texts that are too long are cut. */
  readonly truncation_side: "left" | "right";
  /** Whether capitals are read as small letters. */
  readonly lower_case: boolean;
  /** Whether the second text of a pair has the token type 1. Only for models that read pairs. */
  readonly token_types?: boolean;
  readonly pooling?: string;
  /** Whether vectors have the length 1. */
  readonly normalized?: boolean;
  readonly similarity?: string;
  /** Activation of a cross-encoder's scores. */
  readonly activation?: string;
  /** Label whose score ranks documents. Only for classifiers of pairs with two labels. */
  readonly score_label?: string;
  /** Prompts by name. */
  readonly prompts?: Readonly<Record<string, string>>;
  readonly default_prompt?: string;
  /** Whether the tokens of a prompt are pooled with those of the text. */
  readonly pools_prompt?: boolean;
  /** Keys of the folder's configuration that bert-edge does not know. The user accepted them when the model was prepared. */
  readonly accepted_keys?: readonly string[];
}

/** The same text in capitals and in small letters. A tokenizer that reads capitals as small letters gives both the same ids. */
const [CAPITALS, SMALL] = ["Anna Maria New York ABC", "anna maria new york abc"];

/** Collects the settings from a model's manifest and tokenizer. */
export function readingOf(manifest: Manifest, tokenizer: Tokenizer): ModelReading {
  const { maxTokens } = manifest;
  const isSame = (a: ArrayLike<number>, b: ArrayLike<number>) => `${Array.from(a)}` === `${Array.from(b)}`;
  const ids = (text: string) => tokenizer.encode(text, maxTokens).ids;
  return {
    ...{ max_tokens: maxTokens, truncation_side: tokenizer.side, lower_case: isSame(ids(CAPITALS), ids(SMALL)) },
    ...ofTask(manifest, tokenizer),
    ...("prompts" in manifest && manifest.prompts && { prompts: manifest.prompts }),
    ...("defaultPrompt" in manifest && manifest.defaultPrompt && { default_prompt: manifest.defaultPrompt }),
    ...(manifest.acceptedKeys && { accepted_keys: manifest.acceptedKeys }),
  };
}

function ofTask(manifest: Manifest, tokenizer: Tokenizer): Partial<ModelReading> {
  if (manifest.task === "embed") {
    const { pooling, normalize, similarity = "cosine", poolsPrompt = true, prompts } = manifest;
    return { pooling, normalized: normalize, similarity, ...(prompts && { pools_prompt: poolsPrompt }) };
  }
  if (manifest.task !== "answer" && !("input" in manifest && manifest.input === "pair")) return {};
  const { ids, secondFrom } = tokenizer.encodePair("a", "b", manifest.maxTokens);
  return { token_types: secondFrom < ids.length, ...ofScorer(pairScorer(manifest)) };
}

function ofScorer(scorer: PairScorer | undefined): Partial<ModelReading> {
  if (!scorer) return {};
  const { activation, manifest, label } = scorer;
  return { activation, ...(manifest.labels.length > 1 && { score_label: manifest.labels[label] as string }) };
}
