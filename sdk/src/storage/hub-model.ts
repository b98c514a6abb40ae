import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { BertEdgeError } from "../artifact/error.ts";
import { isInnerPath } from "./inner-path.ts";

const NAME = "(?<name>[\\w-][\\w.-]*/[\\w-][\\w.-]*)";
const ID = new RegExp(`^${NAME}(?:@(?<revision>[^@]+))?$`);
const PAGE = new RegExp(
  `^https?://(?:www\\.)?(?:huggingface\\.co|hf\\.co)/${NAME}(?:/(?:tree|blob|resolve)/(?<revision>[^/?#]+)(?:/(?<file>[^?#]*))?)?/?(?:[?#].*)?$`,
);

/** A model of the Hugging Face Hub. */
export interface HubModel {
  /** `organization/model` */
  readonly name: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  /** Path of an ONNX file in the repository; undefined if none is named. */
  readonly file: string | undefined;
}

/**
 * Recognizes a model of the Hugging Face Hub: `organization/model`, `organization/model@revision`, or the address of its
 * page. Returns undefined for everything else. If `organization` exists in the working directory, the text is a path.
 *
 * @throws BertEdgeError `hub_model_missing` if the revision or the file has a part such as `..`, so it cannot exist on the Hub
 */
export function hubModel(text: string): HubModel | undefined {
  const page = PAGE.exec(text)?.groups;
  if (page) return { ...named(page), file: page["file"]?.endsWith(".onnx") ? inner(page["file"], "file") : undefined };
  const id = ID.exec(text)?.groups;
  if (id?.["name"] === undefined || existsSync(resolve(id["name"], ".."))) return undefined;
  return { ...named(id), file: undefined };
}

/** Returns the address of the Hub's page for the model with the id `path`; undefined if `path` does not have the form of an id. */
export function hubPageOf(path: string): string | undefined {
  const name = ID.exec(path)?.groups?.["name"];
  return name && `https://huggingface.co/${name}`;
}

const named = ({ name = "", revision = "main" }: NodeJS.Dict<string>) => ({
  name,
  revision: inner(revision, "revision"),
});

/** Decodes a part of a URL, and checks that it can be a path in the cache. */
function inner(text: string, what: string): string {
  const path = decoded(text);
  if (isInnerPath(path)) return path;
  throw new BertEdgeError("hub_model_missing", `${JSON.stringify(path)} cannot be a ${what} of a model on the Hub.`, {
    hint: "Give a branch, a tag or a commit, such as org/model@main, or the address of a file on the Hub.",
  });
}

/** Decodes a part of a URL. Text that is not valid stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
