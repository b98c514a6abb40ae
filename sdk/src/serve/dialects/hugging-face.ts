import * as v from "valibot";
import { type Advice, BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { answerCall, MAX_QUESTION_TOKENS } from "../../runtime/tasks/answer.ts";
import { classifyCall } from "../../runtime/tasks/classify.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { fillMaskCall } from "../../runtime/tasks/fill-mask.ts";
import { mapResult } from "../../runtime/tasks/map-result.ts";
import { similarityCall } from "../../runtime/tasks/rerank.ts";
import { sparseCall } from "../../runtime/tasks/sparse.ts";
import { aggregationStrategies, tagCall } from "../../runtime/tasks/tag.ts";
import type { TaskCall } from "../../runtime/tasks/task-call.ts";
import { tokenVectorsCall } from "../../runtime/tasks/token-vectors.ts";
import { zeroShotCall } from "../../runtime/tasks/zero-shot.ts";
import type { TextInput } from "../../runtime/text-input.ts";
import {
  bodyOf,
  CohereTexts,
  countUpTo,
  objectOf,
  onlyAs,
  PositiveInteger,
  PromptName,
  TruncateFlag,
  TruncationDirection,
} from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { vectorNumbers } from "../contract/vector-text.ts";
import { inCodePoints } from "../routes/code-points.ts";
import { type Dialect, type FieldsWithoutEffect, inOneSentence } from "../routes/dialect.ts";
import { taskAt } from "../routes/task-route.ts";
import { answerRoute, MAX_ANSWER_TOKENS, MAX_ANSWERS, QuestionInContext } from "../tasks/answer.ts";
import { FunctionToApply } from "../tasks/classify.ts";
import { MAX_TOKENS_PER_MASK, MaskTarget, Targets } from "../tasks/fill-mask.ts";
import { CandidateLabel, HypothesisTemplate, MAX_LABEL_CHARACTERS } from "../tasks/zero-shot.ts";

const TextPair = v.object({ text: v.string(), text_pair: v.string() });
const SimilarityInput = v.object({ source_sentence: v.string(), sentences: v.array(v.string()) });

const Inputs = v.union(
  [v.string(), v.array(v.string()), QuestionInContext, SimilarityInput, TextPair],
  "must be a string, a list of strings, or an object with the fields of the model's task",
);
type Inputs = v.InferOutput<typeof Inputs>;

const ofFeatures = {
  truncate: TruncateFlag,
  truncation_direction: TruncationDirection,
  normalize: v.optional(v.boolean()),
  prompt_name: PromptName,
  dimensions: v.optional(PositiveInteger),
  encoding_format: onlyAs(["float"]),
};

/** Options of transformers' pipelines. */
const Parameters = objectOf({
  ...ofFeatures,
  truncation: v.optional(v.boolean()),
  top_k: v.optional(PositiveInteger),
  targets: v.optional(v.union([MaskTarget, Targets])),
  function_to_apply: v.optional(FunctionToApply),
  aggregation_strategy: v.optional(v.picklist(aggregationStrategies)),
  ignore_labels: v.optional(v.array(v.string())),
  candidate_labels: v.optional(
    v.union(
      // A string contains labels with commas between them.
      [v.array(CandidateLabel), v.pipe(v.string(), v.maxLength(100_000))],
      "must be labels of up to 1,000 characters",
    ),
  ),
  multi_label: v.optional(v.boolean()),
  hypothesis_template: v.optional(HypothesisTemplate),
  doc_stride: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  max_answer_len: v.optional(countUpTo(MAX_ANSWER_TOKENS)),
  max_seq_len: v.optional(PositiveInteger),
  max_question_len: onlyAs([MAX_QUESTION_TOKENS], "Shorten the question."),
  align_to_words: v.optional(v.boolean()),
  handle_impossible_answer: v.optional(v.boolean()),
  stride: onlyAs([], "Send long texts in parts."),
  max_length: onlyAs([], "Shorten the texts."),
  // Older names of fields in transformers.
  return_all_scores: onlyAs([true], "Send `top_k`."),
  grouped_entities: onlyAs([], "Send `aggregation_strategy`."),
});
type Options = v.InferOutput<typeof Parameters>;

/** The body does not name a task: the model's task applies. */
const Request = v.pipe(
  bodyOf({
    texts: CohereTexts,
    inputs: Inputs,
    parameters: v.optional(Parameters),
    // `huggingface_hub` sends these fields of feature extraction beside `inputs`.
    ...ofFeatures,
  }),
  v.transform(({ inputs, parameters, model, latency_budget_ms, ...beside }) => {
    const options: Options = { ...beside, ...parameters };
    return { inputs, options, model, latency_budget_ms, truncate: options.truncate ?? options.truncation };
  }),
);

/** Options that say whether and where texts are cut. */
const cutting = ["truncate", "truncation", "truncation_direction"] as const;

/**
 * Returns the options of a request, after a check that the task uses all of them.
 *
 * @throws BertEdgeError `request_invalid`
 */
function only<Name extends keyof Options>(options: Options, task: string, names: readonly Name[]): Pick<Options, Name> {
  const other = Object.keys(options).find((name) => !names.some((known) => known === name));
  if (other === undefined) return options;
  throw invalid(`The field \`${other}\` has no effect on the task ${task}.`, [{ remove: other }]);
}

const route = taskAt("/", {
  schema: Request,
  summary: "The task of the model, for Hugging Face’s clients",
  // Advice names the field in `parameters`, because its value overrides a value beside `inputs`.
  spelled: (field, value) => [
    field === "inputs" || field === "model" || value === undefined ? field : `parameters.${field}`,
    value,
  ],
  example: { inputs: "to be" },
  response: v.unknown(),
  call(body) {
    const { inputs, options } = body;
    const texts = textsOf(inputs);
    const labels = labelsOf(options.candidate_labels);
    return {
      texts,
      size: texts.length * Math.max(1, labels?.length ?? 1),
      on: (manifest) => callFor(body, labels, manifest).on(manifest),
    };
  },
  respond: ({ result }) => result,
});

const textsOf = (inputs: Inputs): readonly string[] =>
  typeof inputs === "string" ? [inputs] : Object.values(inputs).flat();

/** @throws BertEdgeError `request_invalid` */
function topKUpTo(most: number, topK: number | undefined): number | undefined {
  if (topK === undefined || topK <= most) return topK;
  throw invalid(`The field \`top_k\` is ${topK}, but at most ${most} results are possible.`, "Send a smaller `top_k`.");
}

/**
 * Returns the labels of a request; undefined if it has none. As in transformers, empty labels do not count.
 *
 * @throws BertEdgeError `request_invalid`
 */
function labelsOf(labels: Options["candidate_labels"]): readonly string[] | undefined {
  if (labels === undefined) return undefined;
  const found = typeof labels === "string" ? labels.split(",").map((label) => label.trim()) : labels;
  const named = found.filter((label) => label !== "");
  const isInvalid = named.length === 0 || named.some(({ length }) => length > MAX_LABEL_CHARACTERS);
  if (!isInvalid) return named;
  throw invalid(
    `The field \`candidate_labels\` needs labels of 1 to ${MAX_LABEL_CHARACTERS} characters.`,
    "Send a list of labels, or a string with commas between them.",
  );
}

/** Chooses the call by the model's task and the fields of the inputs. The result of the call is the JSON of the answer. */
function callFor(
  { inputs, options, truncate: isCut = true }: v.InferOutput<typeof Request>,
  candidateLabels: readonly string[] | undefined,
  manifest: Manifest,
): TaskCall<unknown> {
  // Hugging Face's servers cut texts that are too long by default.
  const truncate = isCut && (options.truncation_direction ?? isCut);
  const optionsOf = <Name extends keyof Options>(names: readonly Name[], task: string = manifest.task) => ({
    ...camelCase(only(options, task, names)),
    truncate,
  });
  const fields: object = Object(inputs);

  const textList = (): readonly string[] => {
    if (typeof inputs === "string" || Array.isArray(inputs)) return textsOf(inputs);
    throw otherInputs(manifest, "to be");
  };
  /** Writes each result of a call. A single input gets a single result instead of a list. */
  const each = <R>(call: TaskCall<readonly R[]>, write: (result: R, index: number) => unknown = (result) => result) =>
    mapResult(call, (results) => {
      const all = results.map(write);
      return typeof inputs === "string" ? all[0] : all;
    });

  if ("source_sentence" in fields) {
    const { source_sentence, sentences } = fields as v.InferOutput<typeof SimilarityInput>;
    // Hugging Face's pipeline compares the vectors of all models by their cosine.
    const given = optionsOf([...cutting, "prompt_name"], "sentence similarity");
    return similarityCall(source_sentence, sentences, { ...given, similarity: "cosine" });
  }
  if (candidateLabels) {
    const names = [...cutting, "candidate_labels", "multi_label", "hypothesis_template"] as const;
    const call = zeroShotCall(textList(), candidateLabels, optionsOf(names, "zero-shot"));
    return call.texts.length === 1 ? mapResult(call, ([only]) => only) : call;
  }
  switch (manifest.task) {
    case "embed": {
      const names = [...cutting, "prompt_name", "normalize", "dimensions", "encoding_format"] as const;
      return each(embedCall(textList(), optionsOf(names)), vectorNumbers);
    }
    case "classify": {
      const { text, text_pair } = fields as Partial<v.InferOutput<typeof TextPair>>;
      const pairs: readonly TextInput[] = text !== undefined ? [[text, text_pair as string]] : textList();
      return classifyCall(pairs, optionsOf([...cutting, "top_k", "function_to_apply", "return_all_scores"]));
    }
    case "tag": {
      const given = optionsOf([...cutting, "aggregation_strategy", "ignore_labels"]);
      const call = tagCall(textList(), given);
      const name = given.aggregationStrategy === "none" ? "entity" : "entity_group";
      return each(call, (entities, i) =>
        inCodePoints(call.texts[i] ?? "", entities).map(({ label, score, text: word, start, end }) => ({
          [name]: label,
          score,
          word,
          start,
          end,
        })),
      );
    }
    case "answer": {
      if (!("question" in fields)) throw otherInputs(manifest, answerRoute.example);
      const asked = fields as v.InferOutput<typeof QuestionInContext>;
      // Long contexts are read in parts, and never cut.
      const lengths = ["doc_stride", "max_answer_len", "max_seq_len", "max_question_len"] as const;
      const given = optionsOf([...lengths, "top_k", "align_to_words", "handle_impossible_answer"]);
      const topK = topKUpTo(MAX_ANSWERS, given.topK) ?? 1;
      const reading = { ...given, topK, maxTokens: given.maxSeqLen, maxAnswerTokens: given.maxAnswerLen };
      return mapResult(answerCall([asked], reading), ([answers = []]) => {
        const results = inCodePoints(asked.context, answers);
        return topK === 1 ? results[0] : results;
      });
    }
    case "sparse":
      return each(sparseCall(textList(), optionsOf([...cutting, "prompt_name"])));
    case "token-vectors":
      return each(tokenVectorsCall(textList(), optionsOf([...cutting, "prompt_name"])), ({ vectors, dimensions }) =>
        Array.from({ length: vectors.length / dimensions }, (_, token) =>
          vectorNumbers(vectors.subarray(token * dimensions, (token + 1) * dimensions)),
        ),
      );
    case "fill-mask": {
      const given = optionsOf([...cutting, "top_k", "targets"]);
      const topK = topKUpTo(MAX_TOKENS_PER_MASK, given.topK);
      const targets = given.targets === undefined ? undefined : [given.targets].flat();
      return each(fillMaskCall(textList(), { topK, targets, truncate }), (masks) => {
        const lists = masks.map((found) =>
          found.map(({ score, tokenId, token, sequence }) => ({ score, token: tokenId, token_str: token, sequence })),
        );
        return lists.length === 1 ? lists[0] : lists;
      });
    }
  }
}

const otherInputs = ({ name, task }: Manifest, inputs: unknown) =>
  invalid(`The model ${name} has the task ${task}, which needs other inputs.`, [{ set: "inputs", to: inputs }]);

const invalid = (message: string, hint: string | Advice) => new BertEdgeError("request_invalid", message, { hint });

/** Hugging Face's inference endpoints: https://huggingface.co/docs/inference-providers/tasks */
export const huggingFace: Dialect = {
  id: "hugging-face",
  name: "Hugging Face",
  routes: [route],
  errorBody: v.object({ error: v.string() }),
  writeError: (error) => ({ body: { error: inOneSentence(error) } }),
};

/** Fields of Hugging Face's clients without effect: https://huggingface.co/docs/inference-providers/tasks */
export const huggingFaceWithoutEffect: FieldsWithoutEffect = {
  "/": {
    options: "the model is loaded already, and a response cache is the operator's choice",
  },
};
