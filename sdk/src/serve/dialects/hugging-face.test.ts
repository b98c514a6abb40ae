import { describe, expect, it } from "vitest";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { createEdgeApp } from "../edge-app.ts";

const LONG = `${"to ".repeat(20)}Anna ${"be ".repeat(40)}`;

/** Values of all options, each with another answer than without it. */
const values = {
  truncate: false,
  truncation: false,
  truncation_direction: "left",
  normalize: true,
  prompt_name: "query",
  dimensions: 2,
  top_k: 2,
  targets: ["be"],
  function_to_apply: "none",
  aggregation_strategy: "none",
  ignore_labels: ["PER"],
  candidate_labels: ["a", "b"],
  multi_label: true,
  hypothesis_template: "It is {}!",
  doc_stride: 0,
  max_answer_len: 1,
  max_seq_len: 9,
  align_to_words: false,
  handle_impossible_answer: true,
  // These values mean what is done anyway.
  encoding_format: "float",
  max_question_len: 64,
  return_all_scores: true,
} as const;
type Option = keyof typeof values;
const isDefault = (option: Option) => /^(encoding_format|max_question_len|return_all_scores)$/.test(option);
/** Options that clients send beside `inputs` too. */
const beside = [
  "truncate",
  "truncation_direction",
  "normalize",
  "prompt_name",
  "dimensions",
  "encoding_format",
] as const satisfies Option[];

const cutting = ["truncate", "truncation", "truncation_direction"] as const;
const prompts = { query: "ask: ", document: "" };
const encoder: Task = { task: "embed", pooling: "mean", normalize: false, dimensions: 8, prompts };
const pairs: Task = { task: "classify", input: "pair", labels: ["contradiction", "entailment"] };

/** Each task with a request, and the options that Hugging Face's servers and pipelines have for it. */
const cases: Record<string, { task: Task; body: object; has: readonly Option[] }> = {
  "feature extraction": {
    task: encoder,
    body: { inputs: LONG },
    has: [...cutting, "normalize", "prompt_name", "dimensions", "encoding_format"],
  },
  "sentence similarity": {
    task: encoder,
    body: { inputs: { source_sentence: LONG, sentences: ["to be", "Anna"] } },
    has: [...cutting, "prompt_name"],
  },
  "text classification": {
    task: { task: "classify", input: "text", labels: ["no", "maybe", "yes"] },
    body: { inputs: LONG },
    has: [...cutting, "top_k", "function_to_apply", "return_all_scores"],
  },
  "zero-shot classification": {
    task: pairs,
    body: { inputs: LONG, parameters: { candidate_labels: ["Anna", "to"] } },
    has: [...cutting, "candidate_labels", "multi_label", "hypothesis_template"],
  },
  "token classification": {
    task: { task: "tag", labels: ["O", "B-PER", "I-PER"] },
    body: { inputs: LONG },
    has: [...cutting, "aggregation_strategy", "ignore_labels"],
  },
  "question answering": {
    task: { task: "answer" },
    body: {
      inputs: { question: "Who?", context: "Anna works unaffably in Yorkshire. ".repeat(4) },
      parameters: { top_k: 100 },
    },
    has: [
      "top_k",
      "doc_stride",
      "max_answer_len",
      "max_seq_len",
      "align_to_words",
      "handle_impossible_answer",
      "max_question_len",
    ],
  },
  "fill mask": {
    task: { task: "fill-mask", mask: { id: 103, token: "[MASK]" } },
    body: { inputs: `[MASK] ${LONG} [MASK] [MASK]` },
    has: [...cutting, "top_k", "targets"],
  },
  "sparse vectors": { task: { task: "sparse", prompts }, body: { inputs: LONG }, has: [...cutting, "prompt_name"] },
  "token vectors": {
    task: { task: "token-vectors", dimensions: 4, prompts },
    body: { inputs: LONG },
    has: [...cutting, "prompt_name"],
  },
};

describe.each(Object.entries(cases))("Hugging Face's options for %s", (_, { task, body, has }) => {
  const options = Object.keys(values) as Option[];
  const setUp = async () => {
    const app = createEdgeApp({
      models: await taskStore(task),
      model: TINY.name,
      keys: false,
      log: false,
      cpuLimitMs: 1e9,
      engine: taskEngine(task),
      // A default of the deployment is no wish of the request.
      defaults: { truncate: "right" },
    });
    return async (body: object) => {
      const headers = { "content-type": "application/json" };
      const response = await app.request("/", { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, text: await response.text() };
    };
  };
  const withParameters = (more: object) => ({ ...body, parameters: { ...Object(Object(body).parameters), ...more } });

  it("are obeyed, or refused by name", async () => {
    const post = await setUp();
    const plain = await post(body);
    expect(plain).toMatchObject({ status: 200 });
    for (const option of options) {
      const bodies: object[] = [withParameters({ [option]: values[option] })];
      if (beside.some((each) => each === option)) bodies.push({ ...body, [option]: values[option] });
      for (const each of bodies) {
        const answer = await post(each);
        // With labels, the task of a request is another one.
        if (option === "candidate_labels" && !("source_sentence" in Object(Object(body).inputs))) continue;
        if (!has.includes(option)) {
          expect(answer, option).toMatchObject({
            status: 400,
            text: expect.stringContaining(`Leave \`${option}\` out.`),
          });
        } else if (isDefault(option)) expect(answer, option).toEqual(plain);
        else expect(answer, option).not.toEqual(plain);
      }
    }
  });
});
