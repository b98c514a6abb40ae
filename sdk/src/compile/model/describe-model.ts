import type { ScoreActivation, Task, TaskName } from "../../artifact/manifest.ts";
import type { Protocol } from "../../runtime/tasks/late-interaction.ts";
import { assertNoAdapter } from "../checkpoint/adapter.ts";
import { headOfCrossEncoder, readCrossEncoder } from "../checkpoint/cross-encoder.ts";
import { type EncoderConfig, maxTokensOf } from "../checkpoint/encoder-config.ts";
import { describeHeadedModel, type HeadedModel } from "../checkpoint/headed-model.ts";
import { assertNoDanglingLink } from "../checkpoint/missing-file.ts";
import { type ModelPlace, modelPlace } from "../checkpoint/model-place.ts";
import { assertKeys, type UnknownKeys } from "../checkpoint/modules/accepted-keys.ts";
import { folderKeys } from "../checkpoint/modules/ledger.ts";
import { readProtocol } from "../checkpoint/modules/protocol.ts";
import { type Prompts, readPrompts, similarityOf } from "../checkpoint/modules/sentence-config.ts";
import { readEncoderConfig } from "../checkpoint/read-encoder-config.ts";
import { assertModulesKept, type Modules, readModules } from "../checkpoint/sentence-transformers.ts";
import { type Head, headOf } from "../checkpoint/task-head.ts";
import { readMask } from "../checkpoint/tokenizer/special-tokens.ts";
import { assertPositions, assumedLength } from "./assert-positions.ts";
import { assertNoPooling, choosesPooling, chosenPooling, type PoolingChoice } from "./chosen-pooling.ts";
import { type FolderGraph, graphOfEncoder, graphOfHeadedModel } from "./folder-graph.ts";
import { assertUnnamedHead, type HeadedTask, headFor } from "./task-heads.ts";

/** A choice of task for a model that can do several. */
export interface TaskChoice extends PoolingChoice {
  /** Default: what modules.json or the model's class says. Models with a language-model head are sentence encoders. */
  readonly task?: TaskName | undefined;
  /** The inputs of a classifier. Default: pairs if its files look like those of a cross-encoder, else texts. */
  readonly input?: "text" | "pair" | undefined;
  /** Prompts of a model whose files have none. */
  readonly prompts?: Readonly<Record<string, string>> | undefined;
  /**
   * Unknown keys of modules' configurations that results do not depend on, such as `1_Pooling.some_key`. Without this option they
   * are refused, because a key can change results.
   */
  readonly acceptKeys?: readonly string[] | undefined;
}

/** Description of a folder's model: what it reads and computes. `readGraph` reads the weights. */
export interface ModelDescription extends Pick<ModelPlace, "root" | "folder"> {
  readonly config: EncoderConfig;
  readonly task: Task;
  /** Maximum tokens of a text, special tokens included. */
  readonly maxTokens: number;
  /** Assumptions where the folder's files say nothing, as sentences. */
  readonly assumed: readonly string[];
  /** Keys of the folder's files that are not known. */
  readonly unknown: readonly UnknownKeys[];
  /** Names of unknown keys of modules that the caller accepted. */
  readonly acceptedKeys: readonly string[];
  /** Whether neither modules.json nor the user says how to pool. An ONNX file can still show it. */
  readonly isPoolingAssumed: boolean;
  readonly readGraph: () => Promise<FolderGraph>;
}

/**
 * Describes what a folder's model reads and computes. The description has no weights.
 *
 * @param path path of the folder, or of an ONNX file in it
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`; `task_unsuitable` if the model
 *   has no head for the chosen task; `accepted_key_invalid`
 */
export async function describeModel(path: string, choice: TaskChoice = {}): Promise<ModelDescription> {
  const { root, folder, onnx } = modelPlace(path);
  assertNoDanglingLink(root);
  // A named ONNX file has its own weights, so an adapter in the folder does not matter.
  if (onnx === undefined) await assertNoAdapter({ root, folder });
  // Reads modules.json before config.json: a folder with unsupported modules can lack config.json, and the error must name the modules.
  const modules = await readModules(root);
  const config = await readEncoderConfig(folder);
  const acceptedKeys = [...new Set(choice.acceptKeys)];
  const unknown = assertKeys(root, await folderKeys(root), acceptedKeys);
  const found = await headOfCrossEncoder({ root, folder }, await headOf(folder), modules.isAssumed);
  await assertModulesKept(root, modules, found);
  const possible = possibleTasks(found, modules);
  const task = choice.task ?? (possible[0] as TaskName);
  if (!possible.includes(task)) await assertUnnamedHead({ folder, config }, task, { possible, onnx });
  const own = await readPrompts(root);
  const prompts: Prompts = own.prompts || !choice.prompts ? own : { prompts: { ...choice.prompts } };
  assertPositions(root, config, modules.maxTokens);
  const maxTokens = Math.min(modules.maxTokens ?? Number.POSITIVE_INFINITY, maxTokensOf(config));
  if (task === "embed") {
    const similarity = similarityOf(root, modules);
    return {
      ...{ root, folder, config, maxTokens, assumed: [], unknown, acceptedKeys },
      isPoolingAssumed: modules.isAssumed && !choosesPooling(choice),
      task: {
        ...{ task: "embed", ...chosenPooling(root, modules, choice), dimensions: config.hiddenSize },
        ...(similarity && { similarity }),
        ...(!modules.poolsPrompt && { poolsPrompt: false }),
        ...prompts,
      },
      readGraph: () => graphOfEncoder({ folder, config }, onnx),
    };
  }
  assertNoPooling(task, choice);
  const model = await describeHeadedModel({ root, folder }, headFor[task]);
  const protocol =
    task === "token-vectors" ? await readProtocol({ root, folder }, config, writerOf(modules)) : undefined;
  const crossEncoder = task === "classify" ? await readCrossEncoder(root, folder) : undefined;
  const { input, assumed } =
    task === "classify" ? inputOf(model.labels, choice.input, crossEncoder !== undefined) : ONE_TEXT;
  // The activation counts only with one label: sentence-transformers writes Identity for every model with several labels.
  const activation = input === "pair" && model.labels.length === 1 ? crossEncoder?.activation : undefined;
  const length = crossEncoder || protocol ? undefined : assumedLength(config, modules.maxTokens);
  return {
    ...{ root, folder, config, unknown, acceptedKeys, isPoolingAssumed: false },
    assumed: length === undefined ? assumed : [...assumed, length],
    maxTokens: protocol ? Math.max(protocol.query.length, protocol.document.length) : maxTokens,
    task:
      task === "fill-mask"
        ? { task, mask: await readMask(folder) }
        : taskOf(task, { model, input, activation, protocol, prompts: task === "classify" ? own : prompts }),
    readGraph: () => graphOfHeadedModel(model, onnx),
  };
}

/** Returns the library that wrote a model for late interaction. Folders of Stanford's ColBERT have no Dense modules. */
const writerOf = ({ projections, isPyLate }: Modules) =>
  projections.length === 0 ? "Stanford" : isPyLate ? "PyLate" : undefined;

const ONE_TEXT = { input: "text", assumed: [] } as const;

/** Returns the tasks that a model can do, the usual one first. */
function possibleTasks(head: Head | "none", { task }: Modules): TaskName[] {
  if (head === "none") return [task];
  if (head === "masked-lm") return [...new Set<TaskName>([task, "embed", "fill-mask", "sparse"])];
  return (Object.keys(headFor) as HeadedTask[]).filter((each) => headFor[each] === head);
}

interface TaskParts {
  readonly model: Pick<HeadedModel, "labels" | "problemType" | "outputs">;
  readonly input: "text" | "pair";
  readonly activation: ScoreActivation | undefined;
  readonly prompts: Prompts;
  readonly protocol: Protocol | undefined;
}

function taskOf(
  task: Exclude<HeadedTask, "fill-mask">,
  { model, input, activation, prompts, protocol }: TaskParts,
): Task {
  const { outputs: dimensions, problemType: problem } = model;
  const labels = [...model.labels];
  if (task === "classify") {
    return { task, labels, input, ...(problem && { problem }), ...(activation && { activation }), ...prompts };
  }
  if (task === "tag") return { task, labels };
  if (task === "token-vectors") return { task, dimensions, ...(protocol && { protocol }), ...prompts };
  if (task === "sparse") return { task, ...prompts };
  return { task };
}

/** Finds out whether a classifier reads a text or a pair of texts. config.json has no key for it. */
function inputOf(labels: readonly string[], chosen: TaskChoice["input"], isCrossEncoder: boolean) {
  if (chosen) return { input: chosen, assumed: [] };
  if (isCrossEncoder) return { input: "pair", assumed: [] } as const;
  const has = (name: RegExp) => labels.some((label) => name.test(label));
  const isInference = has(/entail/i) && (has(/contradict/i) || (labels.length === 2 && has(/^entail/i)));
  if (isInference) return assumedPair("It has labels of natural language inference");
  if (labels.length === 1) return assumedPair("It has a single label");
  return ONE_TEXT;
}

const assumedPair = (why: string) =>
  ({
    input: "pair",
    assumed: [`${why}, so the classifier reads pairs of texts. If it reads single texts: --input text.`],
  }) as const;
