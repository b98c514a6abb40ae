import type { Task } from "../../artifact/manifest.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import type { EncoderConfig } from "../checkpoint/encoder-config.ts";
import { readTokenizer } from "../checkpoint/model-folder.ts";
import type { Graph } from "../graph/graph.ts";
import { type ShippedTokenizer, shipTokenizer } from "../pack/tokenizer/ship-tokenizer.ts";
import { assertPlaces } from "./assert-places.ts";
import type { ModelDescription } from "./describe-model.ts";
import { runTask } from "./run-task.ts";
import { openTokenizer, type TextOrPair, type TokenizeTexts, tokenizeTexts } from "./tokenize-texts.ts";

/** A checkpoint with its tokenizer: encodes texts and computes their results. */
export interface TextModel {
  readonly config: EncoderConfig;
  readonly task: Task;
  readonly tokenizer: ShippedTokenizer;
  /** Maximum tokens of a text, special tokens included. */
  readonly maxTokens: number;
  /** What the folder's files do not say and what was assumed instead, as sentences. */
  readonly assumed: readonly string[];
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
 *   `shipTokenizer`, `assertPlaces` and `readGraph`
 */
export async function readTextModel(description: ModelDescription): Promise<TextModel> {
  const { folder, config, task, maxTokens, assumed, readGraph } = description;
  const files = await readTokenizer(folder);
  const graph = await readGraph();
  const tokenizer = shipTokenizer(files);
  assertPlaces(folder, tokenizer, task.task);
  const opened = await openTokenizer(folder, tokenizer, config.vocabularySize);
  const encode = tokenizeTexts(folder, opened, maxTokens, config.vocabularySize);
  return {
    config,
    task,
    tokenizer,
    maxTokens,
    assumed,
    graph,
    encode,
    compute: (session, texts) => runTask(session, task, encode(texts)),
  };
}
