import type { Task } from "../../artifact/manifest.ts";
import type { EngineSession, VectorHead } from "../../runtime/engine/engine.ts";
import { describeCheckpoint } from "../checkpoint/checkpoint.ts";
import { type EncoderConfig, maxTokensOf } from "../checkpoint/encoder-config.ts";
import type { TokenizerFiles } from "../checkpoint/model-folder.ts";
import { modelPlace } from "../checkpoint/model-place.ts";
import { describeClassifier } from "../checkpoint/sequence-classification.ts";
import { headOf } from "../checkpoint/task-head.ts";
import type { Graph } from "../graph/graph.ts";
import { type ShippedTokenizer, shipTokenizer } from "../pack/tokenizer/ship-tokenizer.ts";
import { graphOfClassifier, graphOfEncoder } from "./folder-graph.ts";
import { openTokenizer, type TextOrPair, type TokenizeTexts, tokenizeTexts } from "./tokenize-texts.ts";

/** A checkpoint with its tokenizer: encodes texts and computes vectors or logits. */
export interface TextModel {
  readonly config: EncoderConfig;
  readonly task: Task;
  readonly tokenizer: ShippedTokenizer;
  /** Maximum tokens of a text, special tokens included. */
  readonly maxTokens: number;
  /** The model in standard ONNX operators. */
  readonly graph: Graph;
  /** Returns the token ids of each text or pair, with special tokens, cut to `maxTokens` tokens. */
  readonly encode: TokenizeTexts;
  /** Returns the vector or logits of each text or pair. `session` runs the graph or a rewritten form of it. */
  compute(session: Pick<EngineSession, "run">, texts: readonly TextOrPair[]): Promise<Float32Array[]>;
}

/**
 * Reads a Hugging Face folder with a sentence encoder or a text classifier.
 *
 * @param path path of the folder, or of an ONNX file in it
 * @throws BertEdgeError `checkpoint_invalid` when the tokenizer does not work or belongs to another model, and the
 *   errors of `describeCheckpoint`, `describeClassifier`, `graphOfEncoder` and `graphOfClassifier`
 */
export async function readTextModel(path: string): Promise<TextModel> {
  const { folder } = modelPlace(path);
  const { config, task, files, maxTokens, readGraph } = await describeModel(path);
  const graph = await readGraph();
  const tokenizer = shipTokenizer(files);
  const encode = tokenizeTexts(
    folder,
    await openTokenizer(folder, tokenizer, config.vocabularySize),
    maxTokens,
    config.vocabularySize,
  );
  return {
    config,
    task,
    tokenizer,
    maxTokens,
    graph,
    encode,
    compute: async (session, texts) => session.run(encode(texts), vectorHead(task)),
  };
}

/**
 * Reads what a folder's model computes, without its weights.
 *
 * @throws BertEdgeError the errors of `describeCheckpoint` and `describeClassifier`
 */
export const readTask = async (path: string): Promise<Task> => (await describeModel(path)).task;

interface Description extends Pick<TextModel, "config" | "task" | "maxTokens"> {
  readonly files: TokenizerFiles;
  readonly readGraph: () => Promise<Graph>;
}

async function describeModel(path: string): Promise<Description> {
  const { folder, onnx } = modelPlace(path);
  if ((await headOf(folder)) === "sequence-classification") {
    const classifier = await describeClassifier(folder);
    const { config, tokenizer, labels } = classifier;
    const task: Task = { task: "classify", labels: [...labels] };
    const readGraph = () => graphOfClassifier(classifier, onnx);
    return { config, files: tokenizer, task, maxTokens: maxTokensOf(config), readGraph };
  }
  const checkpoint = await describeCheckpoint(folder);
  const { config, tokenizer, head } = checkpoint;
  const { pooling, normalize } = head;
  return {
    config,
    files: tokenizer,
    task: { task: "embed", pooling, normalize, dimensions: config.hiddenSize },
    maxTokens: Math.min(head.maxTokens ?? Number.POSITIVE_INFINITY, maxTokensOf(config)),
    readGraph: () => graphOfEncoder(checkpoint, onnx),
  };
}

/** Returns how hidden states become a vector; undefined for classifiers, whose graphs end in logits. */
export const vectorHead = (task: Task): VectorHead | undefined => (task.task === "embed" ? task : undefined);
