import { BertEdgeError } from "../../artifact/error.ts";
import { shown } from "../../artifact/shown.ts";
import { type AnswerOptions, type AnswerSpan, answerCall, type ContextQuestion } from "./answer.ts";
import { type ClassifyInput, type ClassifyOptions, classifyCall, type LabelScore } from "./classify.ts";
import { embedCall } from "./embed.ts";
import { type FilledMask, type FillMaskOptions, fillMaskCall } from "./fill-mask.ts";
import { mapResult } from "./map-result.ts";
import { type RerankOptions, rankedResults, rerankCall, similarityCall } from "./rerank.ts";
import { type SparseEntries, sparseCall } from "./sparse.ts";
import { type Entity, type TagOptions, tagCall } from "./tag.ts";
import type { EncodingOptions, TaskCall, VectorOptions } from "./task-call.ts";
import { type TokenVectorsOptions, tokenVectorsCall } from "./token-vectors.ts";
import { type ZeroShotOptions, zeroShotCall } from "./zero-shot.ts";

/** One item, or several. Results are lists in both cases. */
type OneOrMore<Item> = Item | readonly Item[];

/** A document's place in the request, and how well it answers the query. */
export interface RankedResult {
  readonly index: number;
  /** A cross-encoder gives the sigmoid of its logit, or the logit if the model says so. Other models give the similarity to the query. */
  readonly relevanceScore: number;
  /** Missing with `returnDocuments: false`. */
  readonly document?: { readonly text: string };
}

/**
 * The tasks as methods. A loaded model, an app and the client all have these methods, and the HTTP routes have their names in
 * kebab-case. Each of these three adds its own options (`Options`) and fields of results (`Details`) to every method.
 */
export interface TaskMethods<Options = object, Details = object> {
  /** Embeds texts: `embeddings` has a vector [dimensions] for each. */
  embed(
    texts: OneOrMore<string>,
    options?: VectorOptions & Options,
  ): Promise<{ embeddings: Float32Array<ArrayBuffer>[] } & Details>;

  /** Classifies texts, or pairs of texts. `results` has the labels of each, best first. */
  classify(
    inputs: OneOrMore<ClassifyInput>,
    options?: ClassifyOptions & Options,
  ): Promise<{ results: LabelScore[][] } & Details>;

  /** Chooses among labels of your own. `results` has the labels of each text, best first. */
  zeroShot(
    texts: OneOrMore<string>,
    candidateLabels: readonly string[],
    options?: ZeroShotOptions & Options,
  ): Promise<{ results: LabelScore[][] } & Details>;

  /** Finds entities. `results` has the entities of each text. An entity is `text.slice(start, end)`. */
  tag(texts: OneOrMore<string>, options?: TagOptions & Options): Promise<{ results: Entity[][] } & Details>;

  /** Answers questions from their contexts. `results` has the answers to each question. An answer is `context.slice(start, end)`. */
  answer(
    questions: OneOrMore<ContextQuestion>,
    options?: AnswerOptions & Options,
  ): Promise<{ results: AnswerSpan[][] } & Details>;

  /** Finds the words that fit mask tokens. `results` has, for each mask token of each text, the most probable tokens, best first. */
  fillMask(
    texts: OneOrMore<string>,
    options?: FillMaskOptions & Options,
  ): Promise<{ results: FilledMask[][][] } & Details>;

  /**
   * Compares texts with `source`. `scores` has one score per text. Sentence encoders use the model's own similarity function, by
   * default the cosine; distances are negative, so that larger always means more similar.
   */
  similarity(
    source: string,
    texts: readonly string[],
    options?: EncodingOptions & Options,
  ): Promise<{ scores: number[] } & Details>;

  /** Ranks documents by how well they fit a query. `results` has the documents' indices and scores, best first. */
  rerank(
    query: string,
    documents: readonly string[],
    options?: RerankOptions & { readonly returnDocuments?: boolean | undefined } & Options,
  ): Promise<{ results: RankedResult[] } & Details>;

  /** Computes sparse vectors (SPLADE): `embeddings` has token ids and their weights. */
  sparse(
    texts: OneOrMore<string>,
    options?: EncodingOptions & Options,
  ): Promise<{ embeddings: SparseEntries[] } & Details>;

  /** Computes a vector for each token (ColBERT). `embeddings` has one array per text with its vectors in a row: [tokens, dimensions]. */
  tokenVectors(
    texts: OneOrMore<string>,
    options?: TokenVectorsOptions & Options,
  ): Promise<{ embeddings: Float32Array<ArrayBuffer>[]; dimensions: number } & Details>;
}

/** The options of a task, such as `TaskOptions<"classify">`. */
export type TaskOptions<Method extends keyof TaskMethods> =
  Required<Parameters<TaskMethods[Method]>> extends [...unknown[], infer Options] ? Options : never;

/** The result of a task, such as `TaskResult<"classify">`. */
export type TaskResult<Method extends keyof TaskMethods> = Awaited<ReturnType<TaskMethods[Method]>>;

/** Makes the call of a task from a method's arguments. `length` counts the arguments before the options. The last of them is a list. */
type Maker = (...args: never[]) => TaskCall<unknown>;

/** Function that makes each task's call, and the field of the method's result. Without a field, the call's result has all fields. */
const tasks: { readonly [Method in keyof TaskMethods]: readonly [call: Maker, field?: keyof TaskResult<Method>] } = {
  embed: [embedCall, "embeddings"],
  classify: [classifyCall, "results"],
  zeroShot: [
    (texts: OneOrMore<string>, labels: readonly string[], options: ZeroShotOptions = {}) =>
      zeroShotCall([texts].flat(), labels, options),
    "results",
  ],
  tag: [tagCall, "results"],
  answer: [answerCall, "results"],
  fillMask: [fillMaskCall, "results"],
  similarity: [similarityCall, "scores"],
  rerank: [
    (query: string, documents: readonly string[], options: TaskOptions<"rerank"> = {}) =>
      mapResult(rerankCall(query, documents, options), (ranked) =>
        rankedResults(ranked, documents, "relevanceScore", options.returnDocuments),
      ),
    "results",
  ],
  sparse: [sparseCall, "embeddings"],
  tokenVectors: [
    (texts: readonly string[], options: TokenVectorsOptions = {}) =>
      mapResult(tokenVectorsCall(texts, options), (found) => ({
        embeddings: found.map(({ vectors }) => vectors),
        dimensions: found[0]?.dimensions,
      })),
  ],
};

/**
 * Returns the call that the arguments of a method ask for, and its options.
 *
 * @param defaults values of options that the arguments leave out
 * @throws BertEdgeError `request_invalid` if a text is not a string
 */
export function methodCall(
  method: keyof TaskMethods,
  args: readonly unknown[],
  defaults?: object,
): { readonly call: TaskCall<object>; readonly options: object } {
  const [make, field] = tasks[method];
  const { length } = make;
  const options = Object(args[length]) as object;
  const list = [args[length - 1]].flat();
  const call = make(...([...args.slice(0, length - 1), list, { ...defaults, ...options }] as never[]));
  assertTexts(call.texts);
  return { call: mapResult(call, (result) => (field ? { [field]: result } : (result as object))), options };
}

/** @throws BertEdgeError `request_invalid` if a text is not a string. TypeScript cannot exclude this for an unchecked body. */
function assertTexts(texts: readonly unknown[]): void {
  const index = texts.findIndex((text) => typeof text !== "string");
  if (index < 0) return;
  throw new BertEdgeError("request_invalid", `Input ${index} is not a text: it is ${shown(texts[index])}.`, {
    hint: "Give strings. If the texts come from the body of a request, check the body first.",
    index,
  });
}

/** Makes an object with a method for each task. */
export const methodsOf = <Method>(methodOf: (name: keyof TaskMethods) => Method) =>
  Object.fromEntries((Object.keys(tasks) as (keyof TaskMethods)[]).map((name) => [name, methodOf(name)])) as Record<
    keyof TaskMethods,
    Method
  >;
