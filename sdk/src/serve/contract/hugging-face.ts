import * as v from "valibot";
import { MAX_ANSWER_TOKENS } from "./answer.ts";
import { countUpTo, LatencyBudget, notList } from "./fields.ts";
import { MaskTarget, Targets } from "./fill-mask.ts";
import { CandidateLabel, HypothesisTemplate } from "./zero-shot.ts";

// Bodies of Hugging Face's inference API: https://huggingface.co/docs/inference-providers/tasks

const Count = v.pipe(v.number(), v.integer(), v.minValue(1));
const TextPair = v.object({ text: v.string(), text_pair: v.string() });
const QuestionInput = v.object({ question: v.string(), context: v.string() });
const SimilarityInput = v.object({ source_sentence: v.string(), sentences: v.array(v.string()) });

const Inputs = v.union(
  [v.string(), v.array(v.string()), QuestionInput, SimilarityInput, TextPair],
  "must be a string, a list of strings, or an object with the fields of the model's task",
);
export type HuggingFaceInputs = v.InferOutput<typeof Inputs>;

/** Labels with commas between them. */
const LabelLine = v.pipe(v.string(), v.maxLength(100_000));

/** Options of transformers' pipelines. */
const Parameters = v.object({
  truncate: v.nullish(v.boolean()),
  truncation: v.nullish(v.boolean()),
  normalize: v.nullish(v.boolean()),
  prompt_name: v.nullish(v.string()),
  dimensions: v.nullish(Count),
  top_k: v.nullish(Count),
  targets: v.nullish(v.union([MaskTarget, Targets])),
  function_to_apply: v.nullish(v.picklist(["softmax", "sigmoid", "none"])),
  aggregation_strategy: v.nullish(v.picklist(["none", "simple", "first", "average", "max"])),
  ignore_labels: v.nullish(v.array(v.string())),
  candidate_labels: v.nullish(
    v.union([v.array(CandidateLabel), LabelLine], "must be labels of up to 1,000 characters"),
  ),
  multi_label: v.nullish(v.boolean()),
  hypothesis_template: v.nullish(HypothesisTemplate),
  doc_stride: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0))),
  max_answer_len: v.nullish(countUpTo(MAX_ANSWER_TOKENS)),
  handle_impossible_answer: v.nullish(v.boolean()),
});
export type HuggingFaceParameters = v.InferOutput<typeof Parameters>;

/** The body of an error. */
export const HuggingFaceErrorBody = v.object({ error: v.string() });
export type HuggingFaceErrorBody = v.InferOutput<typeof HuggingFaceErrorBody>;

/** The body of `POST /`. It names no task: the model has one. */
export const HuggingFaceRequest = v.object({
  inputs: Inputs,
  parameters: v.nullish(notList(Parameters)),
  // `huggingface_hub` sends these fields of feature extraction beside `inputs`.
  truncate: v.nullish(v.boolean()),
  normalize: v.nullish(v.boolean()),
  prompt_name: v.nullish(v.string()),
  dimensions: v.nullish(Count),
  latency_budget_ms: LatencyBudget,
});
export type HuggingFaceRequest = v.InferOutput<typeof HuggingFaceRequest>;
