import { BertEdgeError } from "../../artifact/error.ts";
import type { TaskName } from "../../artifact/manifest.ts";
import type { Encoder } from "../checkpoint/checkpoint.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { exportFiles } from "../checkpoint/export-files.ts";
import { readWeights } from "../checkpoint/model-folder.ts";
import { headsAmong } from "../checkpoint/present-heads.ts";
import { WatchedTensors } from "../checkpoint/watched-tensors.ts";
import { tasksOf } from "./task-heads.ts";

/**
 * Checks that the weights have the head of a task that config.json does not name. Folders of plain classes can have a head:
 * transformers loads it if it is told the class.
 *
 * @param possible tasks that config.json and modules.json name
 * @throws BertEdgeError `task_unsuitable`, and the errors of `readWeights` and `encoderWeights`
 */
export async function assertUnnamedHead(
  encoder: Omit<Encoder, "weights">,
  task: TaskName,
  { possible, onnx }: { readonly possible: readonly TaskName[]; readonly onnx: string | undefined },
): Promise<void> {
  const isExport = onnx !== undefined || (await exportFiles(encoder.folder)).length > 0;
  const others = isExport ? [] : besidesEncoder(encoder);
  const unnamed: readonly TaskName[] = tasksOf(headsAmong(others, encoder.config.modelType));
  if (unnamed.includes(task)) return;
  throw new BertEdgeError("task_unsuitable", `${encoder.folder} has no head for the task ${task}.`, {
    hint:
      `Its tasks: ${[...new Set([...possible, ...unnamed])].join(", ")}.` +
      (others.length > 0 ? ` Tensors that do not belong to the encoder: ${others.join(", ")}.` : ""),
  });
}

/** Returns the names of a folder's tensors that its encoder does not read. */
function besidesEncoder(encoder: Omit<Encoder, "weights">): readonly string[] {
  const weights = new WatchedTensors(readWeights(encoder.folder));
  encoderWeights({ ...encoder, weights });
  return weights.unread;
}
