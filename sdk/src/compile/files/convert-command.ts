import { pythonCommand } from "./python-command.ts";

/** A model with weights that PyTorch pickled. */
export interface PickledModel {
  /** Folder of the model, or its name on the Hugging Face Hub. */
  readonly from: string;
  /** A branch, tag or commit on the Hub. */
  readonly revision?: string | undefined;
  /** Folder to write. */
  readonly to: string;
  /** The class in transformers that config.json names. */
  readonly architecture: string | undefined;
  /** Whether the model has a modules.json of sentence-transformers. */
  readonly isSentenceEncoder: boolean;
}

/**
 * Returns the command that saves a model as safetensors, with its tokenizer. It runs the model's own tools, because
 * reading pickled weights can run any code.
 */
export function convertCommand({ from, revision, to, architecture, isSentenceEncoder }: PickledModel): string {
  const source = [
    JSON.stringify(from),
    ...(revision === undefined ? [] : [`revision=${JSON.stringify(revision)}`]),
  ].join(", ");
  const target = JSON.stringify(to);
  if (isSentenceEncoder) {
    return pythonCommand(`from sentence_transformers import SentenceTransformer as M; M(${source}).save(${target})`);
  }
  // Another class would leave out the head of the model.
  const model = architecture !== undefined && /^\w+$/.test(architecture) ? architecture : "AutoModel";
  return pythonCommand(
    `from transformers import AutoTokenizer as T, ${model} as M; ` +
      `[C.from_pretrained(${source}).save_pretrained(${target}) for C in (T, M)]`,
  );
}
