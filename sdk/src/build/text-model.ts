import { join } from "node:path";
import { BertEdgeError } from "../artifact/error.ts";
import type { Task } from "../artifact/manifest.ts";
import type { EngineSession, TokenIds } from "../runtime/engine/engine.ts";
import { sentenceVector } from "../runtime/tasks/sentence-vector.ts";
import { createTokenizer } from "../runtime/tokenizer/tokenizer.ts";
import { headOf } from "./checkpoint/architectures.ts";
import { readCheckpoint } from "./checkpoint/checkpoint.ts";
import { classifierGraph } from "./checkpoint/classifier-graph.ts";
import { type EncoderConfig, maxTokensOf } from "./checkpoint/encoder-config.ts";
import { encoderGraph } from "./checkpoint/encoder-graph.ts";
import { encoderWeights } from "./checkpoint/encoder-weights.ts";
import type { TokenizerFiles } from "./checkpoint/model-folder.ts";
import { readClassifier } from "./checkpoint/sequence-classification.ts";
import type { Graph } from "./graph/graph.ts";

/** A checkpoint as what it does to texts. */
export interface TextModel {
  readonly config: EncoderConfig;
  readonly task: Task;
  readonly tokenizer: TokenizerFiles;
  /** Of one text, special tokens included. */
  readonly maxTokens: number;
  /** Written out in standard operators. */
  readonly graph: Graph;
  /** @returns every text's token ids, special tokens included, at most maxTokens */
  encode(texts: readonly string[]): TokenIds[];
  /** @returns every text's vector or logits, by whatever runs the graph or one made from it */
  compute(session: Pick<EngineSession, "run">, texts: readonly string[]): Promise<Float32Array[]>;
}

/**
 * Reads a Hugging Face folder: a sentence encoder, or a classifier of texts.
 *
 * @throws BertEdgeError as `readCheckpoint` and `readClassifier`; `checkpoint_invalid` when the tokenizer does not work or
 *   is not this model's
 */
export async function readTextModel(folder: string): Promise<TextModel> {
  const { config, task, tokenizer, maxTokens, graph } = await readParts(folder);
  const tokenize = tokenizerOf(folder, tokenizer);
  const encode = (texts: readonly string[]) => {
    const sequences = texts.map((text) => tokenize(text, maxTokens));
    assertKnown(folder, sequences, config.vocab_size);
    return sequences;
  };
  return {
    config,
    task,
    tokenizer,
    maxTokens,
    graph,
    encode,
    async compute(session, texts) {
      const results = await session.run(encode(texts));
      return task.task === "classify" ? results : results.map((rows) => sentenceVector(rows, task.dimensions, task));
    },
  };
}

type Parts = Pick<TextModel, "config" | "task" | "tokenizer" | "maxTokens" | "graph">;

async function readParts(folder: string): Promise<Parts> {
  if ((await headOf(folder)) === "sequence-classification") {
    const classifier = await readClassifier(folder);
    const { config, tokenizer, labels } = classifier;
    const task: Task = { task: "classify", labels: [...labels] };
    return { config, tokenizer, task, maxTokens: maxTokensOf(config), graph: classifierGraph(classifier) };
  }
  const checkpoint = await readCheckpoint(folder);
  const { config, tokenizer, head } = checkpoint;
  const { pooling, normalize } = head;
  return {
    config,
    tokenizer,
    task: { task: "embed", pooling, normalize, dimensions: config.hidden_size },
    maxTokens: Math.min(head.maxTokens ?? Number.POSITIVE_INFINITY, maxTokensOf(config)),
    graph: encoderGraph(config, encoderWeights(checkpoint)),
  };
}

function tokenizerOf(folder: string, { json, config }: TokenizerFiles): (text: string, maxTokens: number) => TokenIds {
  try {
    const { encode } = createTokenizer(json, config);
    encode("a", 3);
    return (text, maxTokens) => encode(text, maxTokens).ids;
  } catch (cause) {
    throw invalidTokenizer(folder, "cannot be used as a tokenizer", cause);
  }
}

function assertKnown(folder: string, sequences: readonly TokenIds[], vocabulary: number): void {
  const largest = sequences.reduce((max, ids) => ids.reduce((a, b) => Math.max(a, b), max), 0);
  if (largest < vocabulary) return;
  throw invalidTokenizer(folder, `has the token ${largest}, but config.json a vocab_size of ${vocabulary}`);
}

const invalidTokenizer = (folder: string, what: string, cause?: unknown) =>
  new BertEdgeError("checkpoint_invalid", `${join(folder, "tokenizer.json")} ${what}.`, {
    hint: "tokenizer.json and model.safetensors must come from the same model.",
    cause,
  });
