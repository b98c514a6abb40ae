import type { Manifest, Pooling } from "../../../artifact/manifest.ts";
import type { Side } from "../../../runtime/truncation.ts";
import type { Asking } from "./golden-call.ts";
import { namesOfPrompts } from "./names-of-prompts.ts";
import type { GoldenLine } from "./read-golden.ts";

/** Another way to read a model folder, or to ask the model. */
export interface Reading {
  /** Two readings of the same kind exclude each other. */
  readonly kind:
    | "pooling"
    | "normalization"
    | "unpooled"
    | "role"
    | "side"
    | "length"
    | "prompt"
    | "case"
    | "order"
    | "types"
    | "activation";
  /** Completes the sentence "All lines agree …". */
  readonly says: string;
  /** Names the setting that decides the reading, and says what to change. */
  readonly fix: string;
  readonly manifest?: (manifest: Manifest) => Manifest;
  readonly line?: (line: GoldenLine) => GoldenLine;
  readonly asking?: Asking;
}

const poolings: readonly Pooling[] = ["mean", "cls", "max", "last"];

/** Lengths in tokens at which servers cut texts, apart from the model's own. */
const usualLengths = [512, 384, 256, 200, 128, 64, 32];

/** Maximum number of prompts to try. Most models have two or three; models with more have one for each benchmark. */
const MAX_PROMPTS = 8;

/**
 * Lists other readings, the most usual ones first.
 *
 * @param positions maximum number of tokens that the model's weights allow
 */
export function otherReadings(manifest: Manifest, positions: number): Reading[] {
  const { maxTokens, tokenizer } = manifest;
  return [
    ...pooled(manifest),
    ...ofRoles(manifest),
    ...prompted(manifest),
    ...cut(maxTokens, positions, tokenizer.truncationSide === "left" ? "right" : "left"),
    ...classified(manifest),
    {
      kind: "case",
      says: "if texts are lower-cased first",
      fix: "`do_lower_case` in tokenizer_config.json and the normalizer of tokenizer.json decide it. Correct them, or send the present system the texts as they are.",
      line: mapped((text) => text.toLowerCase()),
    },
  ];
}

function pooled(manifest: Manifest): Reading[] {
  if (manifest.task !== "embed") return [];
  const { normalize, poolsPrompt = true, prompts } = manifest;
  const unpooled: Reading = {
    kind: "unpooled",
    says: poolsPrompt ? "if the tokens of prompts are not pooled" : "if the tokens of prompts are pooled, too",
    fix: "`include_prompt` in the config.json of the module Pooling decides it. Correct the folder, or let the present system pool as it says.",
    manifest: (changed) => ({ ...changed, poolsPrompt: poolsPrompt ? false : undefined }) as Manifest,
  };
  return [
    ...poolings
      .filter((pooling) => pooling !== manifest.pooling)
      .map(
        (pooling): Reading => ({
          kind: "pooling",
          says: `with ${pooling} pooling instead of ${manifest.pooling}`,
          fix: "`pooling_mode` in the config.json of the module Pooling decides it (1_Pooling, named in modules.json). Correct the folder, or let the present system pool as it says.",
          manifest: (changed) => ({ ...changed, pooling }) as Manifest,
        }),
      ),
    {
      kind: "normalization",
      says: normalize ? "if vectors are not normalized" : "if vectors are normalized",
      fix: `The module Normalize in modules.json decides it. ${normalize ? "Remove it" : "Add it"}, or write the file with vectors ${normalize ? "of the length 1" : "that are not normalized"}.`,
      manifest: (changed) => ({ ...changed, normalize: !normalize }) as Manifest,
    },
    ...(prompts ? [unpooled] : []),
  ];
}

function prompted(manifest: Manifest): Reading[] {
  if (!("prompts" in manifest) || !manifest.prompts) return [];
  const { prompts, defaultPrompt } = manifest;
  const fix =
    "`default_prompt_name` and `prompts` in config_sentence_transformers.json decide it. Correct them, or give each line its `prompt_name`.";
  const none = Object.fromEntries(Object.keys(prompts).map((name) => [name, ""]));
  const withoutDefault: Reading = {
    kind: "prompt",
    says: `without the default prompt ${JSON.stringify(defaultPrompt)}`,
    fix,
    manifest: (changed) => ({ ...changed, defaultPrompt: undefined }) as Manifest,
  };
  return [
    ...(defaultPrompt === undefined ? [] : [withoutDefault]),
    {
      kind: "prompt",
      says: "without any prompt",
      fix,
      manifest: (changed) => ({ ...changed, prompts: none }) as Manifest,
    },
    ...namesOfPrompts(prompts)
      .filter((name) => name !== defaultPrompt)
      .slice(0, MAX_PROMPTS)
      .map(
        (name): Reading => ({
          kind: "prompt",
          says: `if lines without a prompt get the prompt ${JSON.stringify(name)}`,
          fix,
          manifest: (changed) => ({ ...changed, defaultPrompt: name }) as Manifest,
        }),
      ),
  ];
}

/** Returns the reading in which lines without a side are queries; none for models without late interaction. */
const ofRoles = (manifest: Manifest): Reading[] =>
  manifest.task === "token-vectors" && manifest.protocol
    ? [
        {
          kind: "role",
          says: "if lines without a side are queries",
          fix: 'Give each line of a query "side": "query".',
          line: (line) => ({ ...line, side: line.side ?? "query" }),
        },
      ]
    : [];

const cut = (maxTokens: number, positions: number, otherSide: Side): Reading[] => [
  {
    kind: "side",
    says: `if texts that are too long are cut at their ${otherSide === "left" ? "beginning" : "end"}`,
    fix: "`truncation_side` in tokenizer_config.json decides it. Correct it, or let the present system cut texts as it says.",
    asking: { truncate: otherSide },
  },
  ...[...new Set([positions, ...usualLengths])]
    .filter((length) => length !== maxTokens && length <= positions)
    .map(
      (length): Reading => ({
        kind: "length",
        says: `if texts are cut at ${length} tokens instead of ${maxTokens}`,
        fix: "`max_seq_length` in sentence_bert_config.json decides it, or `model_max_length` in tokenizer_config.json. Correct it, or let the present system cut texts there.",
        manifest: (changed) => ({ ...changed, maxTokens: length }),
      }),
    ),
];

function classified(manifest: Manifest): Reading[] {
  if (manifest.task !== "classify") return [];
  const swapped: Reading = {
    kind: "order",
    says: "if the two texts of each pair change places",
    fix: "Write what the model reads first, such as the query, as `text`, and the other text as `text_pair`.",
    line: (line) => (typeof line.input === "string" ? line : { ...line, input: [line.input[1], line.input[0]] }),
  };
  const oneType: Reading = {
    kind: "types",
    says: "if both texts of each pair have the token type 0",
    fix: "`tokenizer_class` and `model_input_names` in tokenizer_config.json decide it. Correct them, or let the present system give the model `token_type_ids`.",
    asking: { oneTokenType: true },
  };
  return [
    ...(["none", "sigmoid", "softmax"] as const).map(
      (activation): Reading => ({
        kind: "activation",
        says: activation === "none" ? "if scores are logits" : `if logits become scores by ${activation}`,
        fix: "The activation function in config.json and `problem_type` decide it. Correct them, or write the file with the scores that they give.",
        asking: { activation },
      }),
    ),
    ...(manifest.input === "pair" ? [swapped, oneType] : []),
  ];
}

const mapped =
  (change: (text: string) => string): NonNullable<Reading["line"]> =>
  (line) => ({
    ...line,
    input: typeof line.input === "string" ? change(line.input) : [change(line.input[0]), change(line.input[1])],
  });
