/** Returns the shell command that runs Python code. */
export const pythonCommand = (code: string): string => `python3 -c '${code.replaceAll("'", `'"'"'`)}'`;

/** A folder with weights that PyTorch pickled. */
interface PickledModel {
  readonly from: string;
  /** Folder to write. */
  readonly to: string;
  /** The class in transformers that config.json names. */
  readonly architecture: string | undefined;
  /** Whether the model has a modules.json of sentence-transformers. */
  readonly isSentenceEncoder: boolean;
}

/**
 * Returns the command that saves a model as safetensors, with its tokenizer. It runs the model's own tools, because
 * reading some pickles runs code.
 */
export function convertCommand({ from, to, architecture, isSentenceEncoder }: PickledModel): string {
  const [source, target] = [JSON.stringify(from), JSON.stringify(to)];
  if (isSentenceEncoder) {
    return pythonCommand(`from sentence_transformers import SentenceTransformer as M; M(${source}).save(${target})`);
  }
  // Takes the class that config.json names, because another class would leave out the model's head.
  const model = architecture !== undefined && /^\w+$/.test(architecture) ? architecture : "AutoModel";
  return pythonCommand(
    `from transformers import AutoTokenizer as T, ${model} as M; ` +
      `[C.from_pretrained(${source}).save_pretrained(${target}) for C in (T, M)]`,
  );
}

/**
 * Returns the command that saves tensors as a safetensors file.
 *
 * @param tensors Python expression of a dict of tensors
 */
export const saveTensorsCommand = (tensors: string, to: string): string =>
  pythonCommand(
    "import torch; from safetensors.torch import save_file; " +
      `save_file({k: v.clone().contiguous() for k, v in ${tensors}.items()}, ${JSON.stringify(to)})`,
  );
