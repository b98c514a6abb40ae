import { totalLength } from "../../artifact/total-length.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import type { ModelDescription } from "../model/describe-model.ts";
import { encodeTextsInSubprocess } from "../model/encode-texts.ts";
import { type ModelSource, readModelSource } from "../model/model-source.ts";
import { readTextModel, type TextModel } from "../model/text-model.ts";
import type { Stage } from "./stage.ts";

/** Path of a model: a Hugging Face folder or an ONNX file. */
interface ModelPath {
  readonly path: string;
}

interface DescribedModel extends ModelPath {
  readonly description: ModelDescription;
}

/** Reads the graph and the tokenizer of a Hugging Face folder. */
export const readFolder: Stage<DescribedModel, TextModel> = {
  name: "read",
  describe: ({ path }) => `read ${path}`,
  run: ({ description }) => readTextModel(description),
  report: ({ task, maxTokens, graph }) => ({ task: task.task, maxTokens, nodes: graph.nodes.size }),
};

interface SourcePath extends ModelPath {
  readonly acceptKeys?: readonly string[] | undefined;
}

/** Reads only the graph of an ONNX file or a Hugging Face folder. */
export const readSource: Stage<SourcePath, ModelSource> = {
  name: "read",
  describe: ({ path }) => `read ${path}`,
  run: ({ path, acceptKeys }) => readModelSource(path, acceptKeys),
  report: ({ graph }) => ({ nodes: graph.nodes.size }),
};

interface TextsInput {
  /** Folder that contains tokenizer.json. */
  readonly tokenizer: string;
  /** Number of rows of the model's token embedding table. */
  readonly vocabulary: number;
  /** Maximum number of tokens that the model can read; undefined if its file does not say. */
  readonly maxTokens: number | undefined;
  readonly texts: readonly string[];
}

/** Encodes texts with a folder's tokenizer, in a subprocess. */
export const readTexts: Stage<TextsInput, TokenIds[]> = {
  name: "read",
  describe: ({ texts, tokenizer }) => `encode ${texts.length} texts with the tokenizer of ${tokenizer}`,
  run: ({ texts, tokenizer, ...limits }, { signal }) => encodeTextsInSubprocess(tokenizer, limits, texts, signal),
  report: (sequences) => ({ texts: sequences.length, tokens: totalLength(sequences) }),
};
