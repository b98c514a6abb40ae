import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, type ProblemType, taskUnsupported } from "../../artifact/manifest.ts";
import { type TextInput, textsOf } from "../text-input.ts";
import { promptOf } from "./prompt.ts";
import { bestOf, softmax } from "./scores.ts";
import type { CuttingOptions, ModelCall, ModelOutput, TaskCall } from "./task-call.ts";

export interface ClassifyOptions extends CuttingOptions {
  /** Maximum number of labels per input. Default: all. */
  readonly topK?: number | undefined;
  /** Function that turns logits into scores. Default: the function that transformers takes for the model. */
  readonly functionToApply?: Activation | undefined;
}

/** A text for a classifier, or two for a classifier of pairs. */
export type ClassifyInput = string | { readonly text: string; readonly textPair: string };

/** Calls a classifier. The result is the labels of each input, best first. */
export function classifyCall(
  given: readonly (ClassifyInput | TextInput)[],
  { truncate = false, topK, functionToApply }: ClassifyOptions = {},
): TaskCall<LabelScore[][], ModelOutput> {
  const inputs = given.map(textInput);
  return { texts: inputs.flatMap(textsOf), size: inputs.length, on };

  function on(manifest: Manifest): ModelCall<LabelScore[][], ModelOutput> {
    const { labels, problem, input } = classifier(manifest);
    const prompt = promptOf(classifier(manifest));
    const wrong = inputs.findIndex((each) => (typeof each === "string") !== (input === "text"));
    if (wrong >= 0) throw otherInputs(manifest.name, input, wrong);
    const how = functionToApply ?? defaultActivation(labels.length, problem);
    return {
      inputs: prompt === "" ? inputs : inputs.map((each) => withFirst(prompt, each)),
      truncate,
      decode: (outputs) => outputs.map((logits) => labelScores(logits, labels, how, topK)),
    };
  }
}

function textInput(given: ClassifyInput | TextInput): TextInput {
  if (typeof given === "string" || Array.isArray(given)) return given as TextInput;
  const { text, textPair } = Object(given) as { text: string; textPair: string };
  return [text, textPair];
}

const withFirst = (prompt: string, input: TextInput): TextInput =>
  typeof input === "string" ? prompt + input : [prompt + input[0], input[1]];

export type Classifier = Extract<Manifest, { task: "classify" }>;

function classifier(manifest: Manifest): Classifier {
  if (manifest.task === "classify") return manifest;
  throw taskUnsupported(manifest, "classify");
}

/** Advice for operators whose classifier must read pairs instead of single texts. */
export const PREPARE_PAIRS = "prepare the model with `bert-edge prepare <model> --input pair`";

const otherInputs = (name: string, input: "text" | "pair", index: number): BertEdgeError =>
  new BertEdgeError(
    "request_invalid",
    `The model ${name} classifies ${input === "pair" ? "pairs of texts" : "single texts"}, but input ${index} is ${input === "pair" ? "a single text" : "a pair"}.`,
    {
      hint:
        input === "pair"
          ? [{ set: "inputs", to: { text: "to be", text_pair: "or not" }, why: "or a list of such pairs" }]
          : [{ set: "inputs", to: "to be", why: "or a list of such texts" }, `for pairs, ${PREPARE_PAIRS}`],
      index,
    },
  );

/** Function that turns logits into scores: transformers' `function_to_apply`. */
export type Activation = "softmax" | "sigmoid" | "none";

/** A label, and how well it fits. */
export interface LabelScore {
  readonly label: string;
  readonly score: number;
}

/** The logistic function 1 / (1 + e⁻ˣ), which torch calls sigmoid. */
export const logistic = (x: number): number => 1 / (1 + Math.exp(-x));

const activations: Record<Activation, (logits: Float32Array) => ArrayLike<number>> = {
  softmax,
  sigmoid: (logits) => Float64Array.from(logits, logistic),
  none: (logits) => logits,
};

/**
 * Returns the activation that transformers' TextClassificationPipeline applies by default: none to regressions, sigmoid if
 * several labels can be true or the model has only one, else softmax.
 */
export function defaultActivation(labels: number, problemType?: ProblemType): Activation {
  if (problemType === "regression") return "none";
  return problemType === "multi_label_classification" || labels === 1 ? "sigmoid" : "softmax";
}

/**
 * Scores the labels of a text as transformers' TextClassificationPipeline does, best first.
 *
 * @param logits [labels]
 * @param topK maximum number of results; default: all labels
 */
export const labelScores = (
  logits: Float32Array,
  labels: readonly string[],
  activation: Activation,
  topK?: number,
): LabelScore[] => bestLabels(labels, { ranks: logits, scores: activations[activation](logits), topK });

interface LabelFigures {
  /** Numbers by which labels are sorted, such as logits: [labels] */
  readonly ranks: ArrayLike<number>;
  /** Scores of the labels. They can be equal for labels with different ranks: [labels] */
  readonly scores: ArrayLike<number>;
  /** Maximum number of labels. Default: all. */
  readonly topK?: number | undefined;
}

/** Returns the best labels with their scores, best first. Of equal labels, the earlier one comes first. */
export const bestLabels = (
  labels: readonly string[],
  { ranks, scores, topK = labels.length }: LabelFigures,
): LabelScore[] =>
  bestOf(labels.keys(), (i) => ranks[i] as number, topK).map((i) => ({
    label: labels[i] as string,
    score: scores[i] as number,
  }));
