import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { answerCall } from "../../runtime/tasks/answer.ts";
import { classifyCall } from "../../runtime/tasks/classify.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { fillMaskCall } from "../../runtime/tasks/fill-mask.ts";
import { similarityCall } from "../../runtime/tasks/rerank.ts";
import { sparseCall } from "../../runtime/tasks/sparse.ts";
import { tagCall } from "../../runtime/tasks/tag.ts";
import type { TaskCall } from "../../runtime/tasks/task-call.ts";
import { tokenVectorsCall } from "../../runtime/tasks/token-vectors.ts";
import { zeroShotCall } from "../../runtime/tasks/zero-shot.ts";
import type { TextInput } from "../../runtime/text-input.ts";
import { countUpTo, LatencyBudget, notList } from "../contract/fields.ts";
import { vectorNumbers } from "../contract/format-vector.ts";
import { type Dialect, inOneSentence, taskAt } from "../routes/dialect.ts";
import type { TaskRoute } from "../routes/task-route.ts";
import { answerResults, MAX_ANSWER_TOKENS, MAX_ANSWERS } from "../tasks/answer.ts";
import { MAX_TOKENS_PER_MASK, MaskTarget, Targets } from "../tasks/fill-mask.ts";
import { entityResults } from "../tasks/tag.ts";
import { CandidateLabel, HypothesisTemplate, MAX_LABEL_CHARACTERS } from "../tasks/zero-shot.ts";

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

/** `POST /` of Hugging Face's inference endpoints. */
export const huggingFaceRoute: TaskRoute<typeof HuggingFaceRequest, unknown> = {
  schema: HuggingFaceRequest,
  about: {
    summary: "The task of the model, for Hugging Face’s clients",
    example: { inputs: "to be" },
    response: v.unknown(),
  },
  call: huggingFaceCall,
  respond: (c, { result }) => c.json(result as object),
};

/**
 * Makes the call that a body asks for. The body names no task, so it is chosen when the model is known: by the model's task,
 * and by the fields of the inputs. The result is the JSON of the answer.
 */
export function huggingFaceCall(body: HuggingFaceRequest): TaskCall<unknown> {
  const { inputs, parameters } = body;
  const texts = textsOf(inputs);
  const labels = labelsOf(parameters?.candidate_labels);
  return {
    texts,
    size: texts.length * Math.max(1, labels?.length ?? 1),
    on: (manifest) => callFor(body, manifest).on(manifest),
  };
}

function textsOf(inputs: HuggingFaceInputs): readonly string[] {
  if (typeof inputs === "string") return [inputs];
  return Array.isArray(inputs) ? inputs : Object.values(inputs).flat();
}

/** @throws BertEdgeError `request_invalid` */
function topKUpTo(most: number, { top_k: topK }: HuggingFaceParameters): number | undefined {
  if ((topK ?? 0) <= most) return topK ?? undefined;
  throw new BertEdgeError(
    "request_invalid",
    `The field \`top_k\` is ${topK}, but at most ${most} results are possible.`,
    {
      hint: "Send a smaller `top_k`.",
    },
  );
}

/**
 * Returns the labels of a request; undefined if it has none. As in transformers, commas are between the labels of a string, and
 * empty ones do not count.
 *
 * @throws BertEdgeError `request_invalid`
 */
function labelsOf(labels: HuggingFaceParameters["candidate_labels"]): readonly string[] | undefined {
  if (labels === undefined || labels === null) return undefined;
  const found = typeof labels === "string" ? labels.split(",").map((label) => label.trim()) : labels;
  const named = found.filter((label) => label !== "");
  const isInvalid = named.length === 0 || named.some(({ length }) => length > MAX_LABEL_CHARACTERS);
  if (!isInvalid) return named;
  throw new BertEdgeError(
    "request_invalid",
    `The field \`candidate_labels\` needs labels of 1 to ${MAX_LABEL_CHARACTERS} characters.`,
    { hint: "Send a list of labels, or a string with commas between them." },
  );
}

function callFor({ inputs, parameters, ...beside }: HuggingFaceRequest, manifest: Manifest): TaskCall<unknown> {
  const options: HuggingFaceParameters = { ...parameters };
  // Hugging Face's servers cut what is too long.
  const truncate = options.truncate ?? options.truncation ?? beside.truncate ?? true;
  const fields = Object(inputs) as Record<string, unknown>;
  if ("source_sentence" in fields) {
    const { source_sentence, sentences } = inputs as { source_sentence: string; sentences: string[] };
    // Their pipeline compares the vectors of all models by their cosine.
    return similarityCall(source_sentence, sentences, { truncate, similarity: "cosine" });
  }
  if (labelsOf(options.candidate_labels)) return zeroShot(textList(inputs, manifest), options, truncate);
  switch (manifest.task) {
    case "embed": {
      const prompt = options.prompt_name ?? beside.prompt_name ?? undefined;
      const normalize = (options.normalize ?? beside.normalize) || undefined;
      const dimensions = options.dimensions ?? beside.dimensions ?? undefined;
      const call = embedCall(textList(inputs, manifest), { truncate, prompt, normalize, dimensions });
      return one(
        inputs,
        mapped(call, (vectors) => vectors.map(vectorNumbers)),
      );
    }
    case "classify": {
      const pairs =
        "text" in fields ? [[fields["text"], fields["text_pair"]] as TextInput] : textList(inputs, manifest);
      const activation = options.function_to_apply ?? undefined;
      return classifyCall(pairs, { truncate, topK: options.top_k ?? undefined, activation });
    }
    case "tag": {
      const texts = textList(inputs, manifest);
      const strategy = options.aggregation_strategy ?? undefined;
      const call = tagCall(texts, { strategy, ignoreLabels: options.ignore_labels ?? undefined, truncate });
      const name = strategy === "none" ? "entity" : "entity_group";
      const results = mapped(call, (all) =>
        all.map((entities, i) =>
          entityResults(texts[i] as string, entities).map(({ label, score, text, start, end }) => ({
            [name]: label,
            score,
            word: text,
            start,
            end,
          })),
        ),
      );
      return one(inputs, results);
    }
    case "answer": {
      if (!("question" in fields)) throw otherInputs(manifest, "an object with `question` and `context`");
      const question = inputs as { question: string; context: string };
      const topK = topKUpTo(MAX_ANSWERS, options) ?? 1;
      const call = answerCall([question], {
        topK,
        stride: options.doc_stride ?? undefined,
        maxAnswerTokens: options.max_answer_len ?? undefined,
        handleImpossibleAnswer: options.handle_impossible_answer ?? undefined,
      });
      return mapped(call, ([answers = []]) => {
        const results = answerResults(question.context, answers);
        return topK === 1 ? results[0] : results;
      });
    }
    case "sparse":
      return one(inputs, sparseCall(textList(inputs, manifest), { truncate }));
    case "token-vectors": {
      const call = tokenVectorsCall(textList(inputs, manifest), { truncate });
      const rows = mapped(call, (all) =>
        all.map(({ vectors, dimensions }) =>
          Array.from({ length: vectors.length / dimensions }, (_, token) =>
            vectorNumbers(vectors.subarray(token * dimensions, (token + 1) * dimensions)),
          ),
        ),
      );
      return one(inputs, rows);
    }
    case "fill-mask": {
      const targets = options.targets ?? undefined;
      const call = fillMaskCall(textList(inputs, manifest), {
        topK: topKUpTo(MAX_TOKENS_PER_MASK, options),
        targets: typeof targets === "string" ? [targets] : targets,
        truncate,
      });
      const results = mapped(call, (all) =>
        all.map((masks) => {
          const lists = masks.map((found) =>
            found.map(({ score, tokenId, token, sequence }) => ({ score, token: tokenId, token_str: token, sequence })),
          );
          return lists.length === 1 ? lists[0] : lists;
        }),
      );
      return one(inputs, results);
    }
  }
}

function zeroShot(texts: readonly string[], options: HuggingFaceParameters, truncate: boolean): TaskCall<unknown> {
  const call = zeroShotCall(texts, {
    candidateLabels: labelsOf(options.candidate_labels) ?? [],
    multiLabel: options.multi_label ?? undefined,
    hypothesisTemplate: options.hypothesis_template ?? undefined,
    truncate,
  });
  return texts.length === 1 ? mapped(call, ([only]) => only) : call;
}

/** Changes the result of a call. */
const mapped = <R, S>(call: TaskCall<R>, change: (result: R) => S): TaskCall<S> => ({
  ...call,
  on(manifest) {
    const { decode, ...rest } = call.on(manifest);
    return { ...rest, decode: (outputs) => change(decode(outputs)) };
  },
});

/** A single input gets a single result instead of a list. */
const one = <R>(inputs: HuggingFaceInputs, call: TaskCall<readonly R[]>): TaskCall<unknown> =>
  typeof inputs === "string" ? mapped(call, ([only]) => only) : call;

function textList(inputs: HuggingFaceInputs, manifest: Manifest): readonly string[] {
  if (typeof inputs === "string") return [inputs];
  if (Array.isArray(inputs)) return inputs;
  throw otherInputs(manifest, "a string or a list of strings");
}

const otherInputs = ({ name, task }: Manifest, what: string): BertEdgeError =>
  new BertEdgeError("request_invalid", `The model ${name} has the task ${task}, which needs other inputs.`, {
    hint: `Send ${what} as \`inputs\`.`,
  });

/** Hugging Face's inference endpoints: https://huggingface.co/docs/inference-providers/tasks */
export const huggingFace: Dialect = {
  id: "hugging-face",
  name: "Hugging Face",
  routes: [taskAt("/", huggingFaceRoute)],
  errorBody: HuggingFaceErrorBody,
  writeError: (error) => ({ body: { error: inOneSentence(error) } satisfies HuggingFaceErrorBody }),
};
