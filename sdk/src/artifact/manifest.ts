import * as v from "valibot";
import { BertEdgeError } from "./error.ts";
import { parseJson } from "./parse-json.ts";

/** Format version. It rises with every change that an older reader could misread. */
export const MANIFEST_FORMAT = "bert-edge/3";
/** Formats that can be read: later ones have more fields. */
const READABLE = ["bert-edge/2", MANIFEST_FORMAT] as const;

export const targetNames = ["edge", "regional-cpu", "regional-gpu"] as const;
export type TargetName = (typeof targetNames)[number];

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits"));
const Positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const NonNegative = v.pipe(v.number(), v.minValue(0));

/** A model's name. It becomes part of object keys, URLs and headers. */
export const ModelName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must be 1-64 of a-z 0-9 . _ - and start with a letter or digit"),
);

/** A model's version: the first 12 digits of its manifest's SHA-256. */
export const ModelVersion = v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/, "must be 12 lower-case hexadecimal digits"));

/** A file name without slashes, so that it can never point outside of the artifact folder. */
const FileName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be a plain file name"));

/**
 * Size of the chunks in which files are checked while they arrive. Each chunk has its own hash, because WebCrypto
 * cannot hash a stream. docs/decisions/0008 compares sizes.
 */
export const CHUNK_BYTES = 1024 * 1024;

/** Maximum bytes of a manifest. Memory for it is allocated before its hash can be checked. */
export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of a file of an artifact. */
const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;

const sizeUpTo = (bytes: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(bytes));

/** The hash and the size of a manifest, for pointers. */
export const ManifestContent = { sha256: Sha256, size: sizeUpTo(MAX_MANIFEST_BYTES) };

const File = v.pipe(
  v.object({
    sha256: Sha256,
    size: sizeUpTo(MAX_FILE_BYTES),
    /** SHA-256 of each chunk of `CHUNK_BYTES`; the last chunk may be shorter. */
    chunks: v.optional(v.array(Sha256)),
  }),
  v.check(
    ({ size, chunks }) => !chunks || chunks.length === Math.ceil(size / CHUNK_BYTES),
    "the number of chunks must match the size",
  ),
);

/**
 * Agreement with the unfused float32 graph, measured on the probe texts. The cosines compare vectors or logits. `top1`
 * exists only for classifiers: the share of texts for which the target predicts the same label as the graph.
 */
const Parity = v.object({
  meanCosine: v.number(),
  minCosine: v.number(),
  maxAbsDiff: NonNegative,
  cases: Positive,
  top1: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  /** Encoders: mean cosine of texts by their length in tokens. */
  lengths: v.optional(v.array(v.object({ tokens: Positive, meanCosine: v.number() }))),
});

/**
 * Scores of the target, and of the float32 model (`fp32`), on the user's data: Spearman correlation × 100 for sentence pairs, accuracy
 * in percent for labelled texts.
 */
const TaskScore = v.object({ metric: v.picklist(["sts", "accuracy"]), score: v.number(), fp32: v.number() });

/** Weights of a target of our engine, if some have 4 bits. */
const FourBitWeights = v.object({
  /** Linear layers of the model, and those whose weights have 4 bits. */
  layers: NonNegative,
  layersInFourBits: NonNegative,
  tableBits: v.picklist([8, 4]),
  /** When weights of 4 bits are expanded. */
  expanded: v.picklist(["once", "each call"]),
});

const Target = v.object({
  engine: v.picklist(["wasm", "ort-web", "ort-node"]),
  /**
   * int8-edge: integer arithmetic throughout, for the WebAssembly engine. int8: one activation scale per tensor.
   * int8-blocks: one scale per block of inputs, slower and closer to float32. int8-mixed: int8 in
   * packed attention, and blocks in the other layers.
   */
  precision: v.picklist(["int8-edge", "int8", "int8-mixed", "int8-blocks", "fp16"]),
  /**
   * Nodes that stay in the next higher precision: float32 instead of 8 bits, or 8 bits instead of 4. Quantizing them
   * further would cost too much accuracy.
   */
  kept: v.optional(v.array(v.string())),
  weights: v.optional(FourBitWeights),
  model: v.string(),
  /** Files with the pages of the token embedding table, in their order. Missing if the model file has the whole table. */
  pages: v.optional(v.array(v.string())),
  parity: Parity,
  task: v.optional(TaskScore),
});

/** End at which texts that are too long are cut. Default: the right. */
const TruncationSide = v.optional(v.literal("left"));

/** One packed file that is read in place, or Hugging Face's JSON files for tokenizer types without a packed form. */
const Tokenizer = v.variant("kind", [
  v.object({ kind: v.literal("packed"), file: v.string(), truncationSide: TruncationSide }),
  v.object({ kind: v.literal("json"), json: v.string(), config: v.string(), truncationSide: TruncationSide }),
]);

const Labels = v.pipe(v.array(v.string()), v.minLength(1));

/** The training objective of a classifier: key `problem_type` of config.json, which does not always have it. */
export const problemTypes = ["regression", "single_label_classification", "multi_label_classification"] as const;
export type ProblemType = (typeof problemTypes)[number];

/** Maximum characters of a prompt, which is put before each text. Instructions have a few hundred. */
export const MAX_PROMPT_LENGTH = 10_000;

const Prompt = v.pipe(v.string(), v.maxLength(MAX_PROMPT_LENGTH, `must have at most ${MAX_PROMPT_LENGTH} characters`));

/** Prompts that are put before texts, as in the model's training, such as `query: `. */
const Prompts = {
  /** Prompts by name, from config_sentence_transformers.json. */
  prompts: v.optional(v.record(v.string(), Prompt)),
  /** Name of the prompt for requests that name no prompt. Default: no prompt. */
  defaultPrompt: v.optional(v.string()),
};

/** Functions other than the cosine that compare vectors. A larger result means more similar vectors. */
const similarities = ["dot", "euclidean", "manhattan"] as const;
export type Similarity = (typeof similarities)[number];

/** Functions that turn a cross-encoder's logit into a score. */
const scoreActivations = ["sigmoid", "none"] as const;
export type ScoreActivation = (typeof scoreActivations)[number];
const TokenId = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Rules by which a model for late interaction reads the texts of one side: queries or documents. */
const SearchRole = {
  /** Maximum tokens of the text, the marker and special tokens included. */
  length: v.pipe(Positive, v.minValue(3)),
  /** The token that is inserted after the first token. */
  marker: v.optional(TokenId),
};

/** Rules by which a model for late interaction reads queries and documents: https://arxiv.org/abs/2004.12832 */
const Protocol = v.object({
  query: v.object({
    ...SearchRole,
    /** The token that fills queries up to `length`, and whether other tokens attend to it. */
    expansion: v.optional(v.object({ token: TokenId, isAttended: v.boolean() })),
  }),
  document: v.object({
    ...SearchRole,
    /** Ids of the tokens that have no vector in a document's result, such as punctuation. */
    skipped: v.array(TokenId),
  }),
  /** Whether texts are lower-cased before special tokens are found in them. */
  lowercases: v.optional(v.boolean()),
});

/** The model's task: its output, and how the output becomes a result. */
const Task = v.variant("task", [
  /** A sentence vector, computed from hidden states [tokens, dimensions]. */
  v.object({
    task: v.literal("embed"),
    pooling: v.picklist(["mean", "cls", "max", "last"]),
    normalize: v.boolean(),
    dimensions: Positive,
    /** Function that compares vectors. Default: the cosine. */
    similarity: v.optional(v.picklist(similarities)),
    /** Whether the tokens of a prompt are pooled with those of the text. Default: true. */
    poolsPrompt: v.optional(v.literal(false)),
    ...Prompts,
  }),
  /** Logits [labels] of a text, or of a pair of texts. */
  v.object({
    task: v.literal("classify"),
    labels: Labels,
    input: v.picklist(["text", "pair"]),
    problem: v.optional(v.picklist(problemTypes)),
    /** Function that turns the logit of a cross-encoder with one label into a score. Default: the sigmoid. */
    activation: v.optional(v.picklist(scoreActivations)),
    /** Prompts of a cross-encoder are put before the first text of a pair. */
    ...Prompts,
  }),
  /** Logits [tokens, labels]. */
  v.object({ task: v.literal("tag"), labels: Labels }),
  /** Logits [tokens, 2] of a question with a context. Each token has one for the start of the answer, and one for its end. */
  v.object({ task: v.literal("answer") }),
  /** Logits [tokens, vocabulary]. Only those of the mask tokens are used. */
  v.object({
    task: v.literal("fill-mask"),
    /** The mask token, which stands for the token to predict, such as [MASK]. */
    mask: v.object({ id: TokenId, token: v.pipe(v.string(), v.minLength(1)) }),
  }),
  /** SPLADE's weights [vocabulary], computed from logits [tokens, vocabulary]. */
  v.object({ task: v.literal("sparse"), ...Prompts }),
  /** Vectors [tokens, dimensions] for late interaction, each of which is normalized. */
  v.object({
    task: v.literal("token-vectors"),
    dimensions: Positive,
    /** Undefined for models that read queries and documents alike. */
    protocol: v.optional(Protocol),
    ...Prompts,
  }),
]);

const Common = v.pipe(
  v.object({
    format: v.picklist(READABLE),
    name: ModelName,
    /** Maximum length of an input in tokens. At least 3: two special tokens and one token of the text. */
    maxTokens: v.pipe(Positive, v.minValue(3)),
    vocabulary: Positive,
    /** Whether the model was prepared with few texts, for a first look (`--fast`). */
    draft: v.optional(v.literal(true)),
    /** Keys in the model folder that bert-edge does not know, and that `--accept-key` has accepted. */
    acceptedKeys: v.optional(v.array(v.string())),
    tokenizer: Tokenizer,
    files: v.record(FileName, File),
    /** The file with the golden texts. Models whose task is not `embed` have none. */
    golden: v.optional(v.string()),
    targets: v.object({
      edge: v.optional(Target),
      "regional-cpu": v.optional(Target),
      "regional-gpu": v.optional(Target),
    }),
  }),
  v.check(
    ({ files, tokenizer, golden = [], targets }) =>
      [
        ...tokenizerFiles(tokenizer),
        golden,
        ...Object.values(targets).map((target) => (target ? [target.model, ...(target.pages ?? [])] : [])),
      ]
        .flat()
        .every((file) => Object.hasOwn(files, file)),
    "the files of tokenizer, golden and targets must be listed in files",
  ),
);

/** Returns the files that a tokenizer is read from. */
export const tokenizerFiles = (tokenizer: v.InferOutput<typeof Tokenizer>): string[] =>
  tokenizer.kind === "packed" ? [tokenizer.file] : [tokenizer.json, tokenizer.config];

const ManifestSchema = v.intersect([Common, Task]);

export type Manifest = v.InferOutput<typeof ManifestSchema>;
export type EmbedManifest = Extract<Manifest, { task: "embed" }>;
export type Task = v.InferOutput<typeof Task>;
export type TaskName = Task["task"];
export const taskNames = Task.options.map(({ entries }) => entries.task.literal);
export type Target = v.InferOutput<typeof Target>;
export type Parity = v.InferOutput<typeof Parity>;
export type TaskScore = v.InferOutput<typeof TaskScore>;
/** A target's accuracy, compared with the float32 model. */
export type Accuracy = Pick<Target, "parity" | "task">;
export type ManifestFile = v.InferOutput<typeof File>;
export type Pooling = EmbedManifest["pooling"];

/** Hint for documents that another version of bert-edge wrote. */
export const PREPARE_AGAIN = "Run `bert-edge prepare` and `bert-edge publish` again with this version of bert-edge.";

/**
 * Parses and checks a manifest.
 *
 * @param source where the text comes from, for the error message
 * @throws BertEdgeError `manifest_invalid`
 */
export function parseManifest(text: string, source: string): Manifest {
  return parseJson(ManifestSchema, text, {
    code: "manifest_invalid",
    what: `manifest at ${source}`,
    hint: PREPARE_AGAIN,
  });
}

/**
 * Returns the manifest of a sentence encoder.
 *
 * @throws BertEdgeError `task_unsupported` for models with another task
 */
export function sentenceEncoder(manifest: Manifest): EmbedManifest {
  if (manifest.task === "embed") return manifest;
  throw taskUnsupported(manifest, "embed");
}

/** Returns the error of a call that needs a model with another task. */
export const taskUnsupported = ({ name, task }: Pick<Manifest, "name" | "task">, wanted: TaskName): BertEdgeError =>
  new BertEdgeError("task_unsupported", `The model ${name} has the task ${task}, not ${wanted}.`, {
    hint: [{ task }, `serve another model, with the task ${wanted}`],
  });

/** Texts, and their vectors from the float32 model. A deployment that returns other vectors for these texts runs another model. */
export interface GoldenTexts {
  /** Texts that the model's tokenizer does not cut. */
  readonly texts: readonly string[];
  /** One vector [dimensions] per text. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
}
