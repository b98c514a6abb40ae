import * as v from "valibot";
import { BertEdgeError } from "./error.ts";
import { versionOf } from "./keys.ts";
import { parseJson } from "./parse-json.ts";

/** Raised whenever a reader of this version could misread what a newer writer wrote. */
export const MANIFEST_FORMAT = "bert-edge/1";

export const targetNames = ["edge", "regional-cpu", "regional-gpu"] as const;
export type TargetName = (typeof targetNames)[number];

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits"));
const Positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const NonNegative = v.pipe(v.number(), v.minValue(0));

/** A model's name: it becomes part of object keys, URLs and headers. */
export const ModelName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must be 1-64 of a-z 0-9 . _ - and start with a letter or digit"),
);

/** Artifact folders are flat: a name can never point outside. */
const FileName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be a plain file name"));

/**
 * What files are hashed in besides as a whole, so that they can be checked while they come: WebCrypto hashes no streams.
 * Sizes are compared in docs/decisions/0008.
 */
export const CHUNK_BYTES = 1024 * 1024;

const Content = { sha256: Sha256, size: v.pipe(v.number(), v.integer(), v.minValue(0)) };

const File = v.pipe(
  v.object({
    ...Content,
    /** SHA-256 of every `CHUNK_BYTES` in turn; what is left is the last chunk. */
    chunks: v.optional(v.array(Sha256)),
  }),
  v.check(
    ({ size, chunks }) => !chunks || chunks.length === Math.ceil(size / CHUNK_BYTES),
    "there must be as many chunks as the size has",
  ),
);

/**
 * Agreement with the unfused fp32 graph on the probe texts: cosine of the final vectors or logits, and the share of texts
 * for which a classifier's largest logit is the same.
 */
const Parity = v.object({
  meanCosine: v.number(),
  minCosine: v.number(),
  maxAbsDiff: NonNegative,
  cases: Positive,
  top1: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
});

/** A metric on the user's data: STS (Spearman × 100) or labelled texts (accuracy in points). */
const TaskScore = v.object({ metric: v.picklist(["sts", "accuracy"]), score: v.number(), fp32: v.number() });

/** Milliseconds for one sequence of n tokens: `base + perToken · n + perSquare · n²`. */
const Cost = v.object({ base: NonNegative, perToken: NonNegative, perSquare: NonNegative });

/** How a tier's memory was found and whether that fits it, in bytes. */
const Memory = v.object({ peak: Positive, limit: Positive, fits: v.boolean() });

const Target = v.object({
  engine: v.picklist(["wasm", "ort-web", "ort-node"]),
  /**
   * int8-edge: everything in integers, as our own engine computes; int8: a step per tensor of activations; int8-blocks: a
   * step per block of each token, slower and closer to fp32.
   */
  precision: v.picklist(["int8-edge", "int8", "int8-blocks", "fp16"]),
  /** Layers that stay in the next higher precision, because they cost too much accuracy otherwise. */
  kept: v.optional(v.array(v.string())),
  model: v.string(),
  parity: Parity,
  task: v.optional(TaskScore),
  cost: v.optional(Cost),
  memory: v.optional(Memory),
});

/** In one file that is read in place, or, for the kinds of which there is no such file, as Hugging Face's files. */
const Tokenizer = v.variant("kind", [
  v.object({ kind: v.literal("packed"), file: v.string() }),
  v.object({ kind: v.literal("json"), json: v.string(), config: v.string() }),
]);

/** What becomes of token states. */
const Task = v.variant("task", [
  v.object({
    task: v.literal("embed"),
    pooling: v.picklist(["mean", "cls", "max"]),
    normalize: v.boolean(),
    dimensions: Positive,
  }),
  v.object({ task: v.literal("classify"), labels: v.pipe(v.array(v.string()), v.minLength(1)) }),
]);

const Common = v.pipe(
  v.object({
    format: v.literal(MANIFEST_FORMAT),
    name: ModelName,
    /** Of one input, special tokens included: there is room for both of them and a word. */
    maxTokens: v.pipe(Positive, v.minValue(3)),
    vocabulary: Positive,
    tokenizer: Tokenizer,
    files: v.record(FileName, File),
    targets: v.object({
      edge: v.optional(Target),
      "regional-cpu": v.optional(Target),
      "regional-gpu": v.optional(Target),
    }),
  }),
  v.check(
    ({ files, tokenizer, targets }) =>
      [...tokenizerFiles(tokenizer), ...Object.values(targets).flatMap((target) => target?.model ?? [])].every((file) =>
        Object.hasOwn(files, file),
      ),
    "every file that tokenizer and targets name must be listed in files",
  ),
);

const tokenizerFiles = (tokenizer: v.InferOutput<typeof Tokenizer>): string[] =>
  tokenizer.kind === "packed" ? [tokenizer.file] : [tokenizer.json, tokenizer.config];

const ManifestSchema = v.intersect([Common, Task]);

export type Manifest = v.InferOutput<typeof ManifestSchema>;
export type EmbedManifest = Extract<Manifest, { task: "embed" }>;
export type Task = v.InferOutput<typeof Task>;
export type Target = v.InferOutput<typeof Target>;
export type Parity = v.InferOutput<typeof Parity>;
export type TaskScore = v.InferOutput<typeof TaskScore>;
/** How well a target does, compared with the float32 model. */
export type Measured = Pick<Target, "parity" | "task">;
export type Cost = v.InferOutput<typeof Cost>;
export type ManifestFile = v.InferOutput<typeof File>;
export type Pooling = EmbedManifest["pooling"];

const hint = "Run `bert-edge prepare` and `bert-edge publish` again with this version of bert-edge.";

/**
 * @param source where the text came from, for the error
 * @throws BertEdgeError `manifest_invalid`
 */
export function parseManifest(text: string, source: string): Manifest {
  return parseJson(ManifestSchema, text, { code: "manifest_invalid", what: `manifest at ${source}`, hint });
}

/** @throws BertEdgeError `task_unsupported` for classifiers, which can be prepared but are not served yet */
export function sentenceEncoder(manifest: Manifest): EmbedManifest {
  if (manifest.task === "embed") return manifest;
  throw new BertEdgeError("task_unsupported", `${manifest.name} is a classifier; these are not served yet.`, {
    hint: "Serve a sentence encoder.",
  });
}

/** What `models/<name>/current.json` holds: the one mutable object, written last. */
const PointerSchema = v.pipe(
  v.object({
    format: v.literal(MANIFEST_FORMAT),
    name: ModelName,
    /** First 12 digits of the manifest's SHA-256: what users and headers call the model's version. */
    version: v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/)),
    /** With its text, which spares readers a request; without, it is where all content is. */
    manifest: v.object({ ...Content, text: v.optional(v.string()) }),
  }),
  v.check(({ version, manifest }) => version === versionOf(manifest.sha256), "the version is not the manifest's"),
);
export type Pointer = v.InferOutput<typeof PointerSchema>;

/** @throws BertEdgeError `pointer_invalid` */
export function parsePointer(text: string, source: string): Pointer {
  return parseJson(PointerSchema, text, { code: "pointer_invalid", what: `pointer at ${source}`, hint });
}
