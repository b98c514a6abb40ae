import type { Task } from "../../artifact/manifest.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import { protocolOf } from "../../runtime/tasks/late-interaction.ts";
import type { EncoderConfig } from "../checkpoint/encoder-config.ts";
import { readTokenizer } from "../checkpoint/model-folder.ts";
import type { UnknownKeys } from "../checkpoint/modules/accepted-keys.ts";
import { assertPadsRight } from "../checkpoint/tokenizer/tokenizer-sides.ts";
import type { Graph } from "../graph/graph.ts";
import { type ShippedTokenizer, shipTokenizer } from "../pack/tokenizer/pack-tokenizer.ts";
import { assertFirstToken, assertPairs, assertPlaces, assertPrompts, assertSpecialTokens } from "./assert-tokenizer.ts";
import type { ModelDescription } from "./describe-model.ts";
import { exportRemarks } from "./export-remarks.ts";
import { findPooling } from "./find-pooling.ts";
import { runTask } from "./run-task.ts";
import { markPrompts, openTokenizer, type TextOrPair, type TokenizeTexts, tokenizeTexts } from "./tokenize-texts.ts";

/** A checkpoint with its tokenizer: encodes texts and computes their results. */
export interface TextModel {
  readonly config: EncoderConfig;
  readonly task: Task;
  readonly tokenizer: ShippedTokenizer;
  /** Maximum tokens of a text, special tokens included. */
  readonly maxTokens: number;
  /** Assumptions where the folder's files say nothing, as sentences. */
  readonly assumed: readonly string[];
  /** Keys of the folder's files that are not known. */
  readonly unknown: readonly UnknownKeys[];
  /** Names of unknown keys of modules that the caller accepted. */
  readonly acceptedKeys: readonly string[];
  /** Names of the weights' tensors that the graph has no use for. */
  readonly unused: readonly string[];
  /** The model in standard ONNX operators. */
  readonly graph: Graph;
  /** Returns the token ids of each text or pair, with special tokens, cut to `maxTokens` tokens. */
  readonly encode: TokenizeTexts;
  /** Returns the result of each text or pair, as `runTask` does. `session` runs the graph or a rewritten form of it. */
  compute(session: Pick<EngineSession, "run">, texts: readonly TextOrPair[]): Promise<Float32Array[]>;
}

/**
 * Reads the graph and the tokenizer of a model that `describeModel` described.
 *
 * @throws BertEdgeError `checkpoint_invalid` when the tokenizer does not work or belongs to another model; the errors of
 *   `shipTokenizer`, `assertPadsRight`, `assertPairs`, `assertFirstToken`, `assertPlaces`, `assertPrompts`, `readGraph` and `findPooling`
 */
export async function readTextModel(description: ModelDescription): Promise<TextModel> {
  const { folder, config, assumed, unknown, acceptedKeys, readGraph } = description;
  const files = await readTokenizer(folder);
  const read = await readGraph();
  const maxTokens = Math.min(description.maxTokens, read.file?.fixed?.tokens ?? description.maxTokens);
  const tokenizer = shipTokenizer(files);
  assertPlaces(folder, tokenizer, description.task.task);
  if (description.task.task === "answer") {
    assertPadsRight(folder, files, "the context would stand before the question");
  }
  const opened = await openTokenizer(folder, tokenizer, config.vocabularySize);
  assertSpecialTokens(folder, opened);
  assertPairs(opened, description.task);
  assertFirstToken(folder, files.config, opened, description.task);
  assertPrompts(description.root, description.task, opened, maxTokens);
  const encode = tokenizeTexts(folder, opened, maxTokens, config.vocabularySize, protocolOf(description.task));
  const { task, remarks, output } = await findPooling(description, read.file, encode);
  const mark = markPrompts(task, opened, maxTokens);
  return {
    ...{ config, task, tokenizer, maxTokens, unknown, acceptedKeys },
    assumed: [
      ...[...remarks, ...assumed, ...files.changes],
      ...exportRemarks(read, { folder, config, task, vector: output, stated: description.maxTokens }),
    ],
    unused: read.unused,
    graph: read.graph,
    encode,
    compute: (session, texts) => runTask(session, task, mark(texts, encode(texts))),
  };
}
