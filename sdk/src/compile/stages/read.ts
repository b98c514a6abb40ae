import { stat } from "node:fs/promises";
import { totalLength } from "../../artifact/total-length.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import type { TaskChoice } from "../model/describe-model.ts";
import { encodeTextsInSubprocess } from "../model/encode-texts.ts";
import { type ModelSource, readModelSource } from "../model/model-source.ts";
import { readTextModel, type TextModel } from "../model/text-model.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { contentKey, folderKey, graphKey, modelKey } from "./content-key.ts";
import type { KeyedStage } from "./stage.ts";

/** A model, and what to make of it. */
interface ChosenModel extends ModelPath, TaskChoice {}

/** Path of a model: a Hugging Face folder or an ONNX file. */
interface ModelPath {
  readonly path: string;
}

/** Reads the graph, the tokenizer and the task of a Hugging Face folder. */
export const readFolder: KeyedStage<ChosenModel, TextModel> = {
  name: "read",
  describe: ({ path }) => `read ${path}`,
  key: async ({ path, task, input, prompts }) => contentKey("read", await modelKey(path), task, input, prompts),
  run: ({ path, ...choice }) => readTextModel(path, choice),
  report: ({ task, maxTokens, graph }) => ({ task: task.task, maxTokens, nodes: graph.nodes.size }),
};

/** Reads only the graph of an ONNX file or a Hugging Face folder. */
export const readSource: KeyedStage<ModelPath, ModelSource> = {
  name: "read",
  describe: ({ path }) => `read ${path}`,
  async key({ path }) {
    const isFolder = await stat(path).then((found) => found.isDirectory());
    // The weights of an ONNX file may be in other files. Its key is therefore computed from the graph, not from the
    // file's bytes.
    return contentKey("read", isFolder ? await folderKey(path) : graphKey(fromOnnx(await readOnnx(path))));
  },
  run: ({ path }) => readModelSource(path),
  report: ({ graph }) => ({ nodes: graph.nodes.size }),
};

interface TextsInput {
  /** Folder that contains tokenizer.json. */
  readonly tokenizer: string;
  /** Number of rows of the model's token embedding table. */
  readonly vocabulary: number;
  readonly texts: readonly string[];
}

/** Encodes texts with a folder's tokenizer, in a subprocess. */
export const readTexts: KeyedStage<TextsInput, TokenIds[]> = {
  name: "read",
  describe: ({ texts, tokenizer }) => `encode ${texts.length} texts with the tokenizer of ${tokenizer}`,
  key: async ({ tokenizer, vocabulary, texts }) =>
    contentKey("texts", await folderKey(tokenizer), `${vocabulary}`, texts),
  run: ({ tokenizer, vocabulary, texts }, { signal }) => encodeTextsInSubprocess(tokenizer, vocabulary, texts, signal),
  report: (sequences) => ({ texts: sequences.length, tokens: totalLength(sequences) }),
};
