import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

const NAME =
  /^(?:https?:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/)?([\w-][\w.-]*\/[\w-][\w.-]*)(?:\/(?:tree|blob)\/.*)?\/?$/;

/** A model of the Hugging Face Hub that was given in place of a folder. */
export interface HubModel {
  /** `organization/model` */
  readonly name: string;
  /** The command that downloads the model, and the folder that it writes. */
  readonly download: { readonly command: string; readonly folder: string };
}

/** Recognizes the name or the URL of a model on the Hugging Face Hub. Returns undefined if it can be a path of this machine. */
export function hubModel(path: string): HubModel | undefined {
  const name = NAME.exec(path)?.[1];
  if (name === undefined || existsSync(dirname(resolve(path)))) return undefined;
  const folder = `./${name.split("/")[1]}`;
  return { name, download: { command: `hf download ${name} --local-dir ${folder}`, folder } };
}
