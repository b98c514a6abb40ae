import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Pooling, Task } from "../../artifact/manifest.ts";
import type { VectorHead } from "../../runtime/engine/engine.ts";
import { cosine, sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import { isSentenceVector } from "../checkpoint/export-outputs.ts";
import { commandToQuantize, type ExportedModel } from "../checkpoint/exported-graph.ts";
import { assertPoolingKept } from "../checkpoint/sentence-transformers.ts";
import type { ModelDescription } from "./describe-model.ts";
import { type ExportedText, type ExportedVectors, exportedVectors } from "./exported-vectors.ts";
import type { TokenizeTexts } from "./tokenize-texts.ts";

/** A task, and what to say about its pooling. */
interface FoundPooling {
  readonly task: Task;
  /** Sentences; empty if modules.json or the user says how to pool. */
  readonly remarks: readonly string[];
  /** Name of the ONNX file's output that showed how to pool; undefined without one. */
  readonly output: string | undefined;
}

/** Texts of several lengths, on which poolings differ. */
const TEXTS = [
  "The river froze before the first snow came.",
  "How do I return a pair of shoes?",
  "Das Wörterbuch liegt auf dem Küchentisch neben dem Fenster, und der Kaffee ist kalt.",
];

/**
 * Finds out how a sentence encoder pools. If its ONNX file has an output with the vector of a text, this output decides: it
 * is compared with each pooling of the file's own hidden states. An output whose name does not say that it is a vector
 * decides only if it equals one of the poolings and nothing else says how to pool.
 *
 * @throws BertEdgeError `export_unsupported` if the output equals none of the poolings; `checkpoint_invalid` or `setting_invalid`
 *   if modules.json or the user names another pooling; `checkpoint_missing` if the folder has lost its modules.json; `engine_failed` if
 *   onnxruntime cannot run the file
 */
export async function findPooling(
  { root, folder, task, isPoolingAssumed }: Pick<ModelDescription, "root" | "folder" | "task" | "isPoolingAssumed">,
  file: ExportedModel | undefined,
  encode: TokenizeTexts,
): Promise<FoundPooling> {
  if (task.task !== "embed") return { task, remarks: [], output: undefined };
  const stated = {
    task,
    remarks: isPoolingAssumed ? [`${NO_MODULES}${inWords(task)}. --pooling chooses another pooling.`] : [],
    output: undefined,
  };
  const asStated = async () => {
    if (isPoolingAssumed) await assertPoolingKept(root);
    return stated;
  };
  const computed = file && (await exportedVectors(file, encode(TEXTS)));
  if (!file || !computed) return asStated();
  const { output, texts } = computed;
  const isNamed = isSentenceVector(output);
  const equal = heads.filter((head) => texts.every((text) => isEqual(text, head)));
  const found = equal.find((head) => isSame(head, task)) ?? equal[0];
  if (!found) {
    if (isNamed) throw noPooling(file.path, computed);
    return asStated();
  }
  if (isPoolingAssumed) {
    const remark = `${NO_MODULES}${inWords(found)}, as in the output ${output} of ${relative(folder, file.path)}.`;
    return { task: { ...task, ...found }, remarks: [remark], output };
  }
  if (isSame(found, task)) return { ...stated, output };
  if (isNamed) throw contradiction({ root, folder }, task, file.path, output, found);
  return stated;
}

const NO_MODULES = "There is no modules.json: vectors are ";

const heads: readonly VectorHead[] = (["mean", "cls", "max", "last"] as const).flatMap((pooling) =>
  [true, false].map((normalize) => ({ pooling, normalize })),
);

const isSame = (a: VectorHead, b: VectorHead): boolean => a.pooling === b.pooling && a.normalize === b.normalize;

/**
 * Minimum cosine and maximum relative error of the norm at which a file's vector counts as a pooling of its hidden states. If
 * it is that pooling, they differ only in the order of float32 sums, by less than a tenth of these limits.
 */
const [MIN_COSINE, MAX_NORM_ERROR] = [0.99999, 1e-4];

function isEqual(text: ExportedText, head: VectorHead): boolean {
  if (text.vector.length !== text.width) return false;
  const { similarity, ratio } = compared(text, head);
  return similarity >= MIN_COSINE && Math.abs(ratio - 1) <= MAX_NORM_ERROR;
}

/** Compares a file's vector with a pooling: their cosine, and the ratio of their norms. */
function compared({ hiddenStates, width, vector }: ExportedText, head: VectorHead) {
  const pooled = sentenceVector(hiddenStates, width, head);
  return { similarity: cosine(vector, pooled), ratio: Math.hypot(...vector) / Math.hypot(...pooled) };
}

const words: Readonly<Record<Pooling, string>> = {
  mean: "the mean of the hidden states",
  cls: "the first hidden state (cls)",
  max: "the maximum of the hidden states",
  last: "the last hidden state",
};

const inWords = ({ pooling, normalize }: VectorHead): string =>
  `${words[pooling]}, ${normalize ? "normalized" : "not normalized"}`;

function noPooling(path: string, { output, texts }: ExportedVectors): BertEdgeError {
  return new BertEdgeError(
    "export_unsupported",
    `The output ${output} of ${path} is none of the poolings of its hidden states (mean, cls, max, last): ${nearest(texts)}. Something else computes it, such as a Dense module.`,
    {
      hint:
        "Vectors that are computed in another way are not supported so far. To run the file in onnxruntime as it is, quantize it: " +
        `\`${commandToQuantize(path)}\`.`,
    },
  );
}

/** Describes the pooling that is most similar to a file's vector. */
function nearest([text]: readonly ExportedText[]): string {
  if (!text || text.vector.length !== text.width) {
    return `it has ${text?.vector.length} numbers, and a hidden state ${text?.width}`;
  }
  const [best] = heads
    .filter(({ normalize }) => !normalize)
    .map((head) => ({ head, ...compared(text, head) }))
    .toSorted((a, b) => b.similarity - a.similarity);
  return `nearest is ${best?.head.pooling}, with a cosine of ${best?.similarity.toFixed(3)} and ${best?.ratio.toPrecision(3)} times the norm`;
}

function contradiction(
  { root, folder }: Pick<ModelDescription, "root" | "folder">,
  stated: VectorHead,
  path: string,
  output: string,
  found: VectorHead,
) {
  const modules = join(root, "modules.json");
  const isChosen = !existsSync(modules);
  return new BertEdgeError(
    isChosen ? "setting_invalid" : "checkpoint_invalid",
    `${isChosen ? "--pooling" : modules} says that vectors are ${inWords(stated)}. But the output ${output} of ${path} is ${inWords(found)}.`,
    {
      hint: isChosen
        ? "Leave out --pooling and --no-normalize."
        : `To follow the ONNX file, remove modules.json${root === folder ? "" : ` and prepare ${folder}`}. To follow modules.json, export the folder again: ` +
          "`optimum-cli export onnx --task feature-extraction --model <model> <folder>`.",
    },
  );
}
