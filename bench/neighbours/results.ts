import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TextSet } from "./texts.ts";

/** Versions of packages, by name. */
export type Versions = Readonly<Record<string, string>>;

/** Scores of a form on a set of texts. */
export interface Score {
  /** Mean share of a text's true neighbours that the form finds. */
  readonly kept: number;
  /** Half of the 95 % interval of `kept`, over the texts. */
  readonly margin: number;
  /** Ids of the forms whose `kept` does not differ from this one's, by the differences text by text, with a certainty of 95 %. */
  readonly tied: readonly string[];
  /** Mean cosine between the form's vector of a text and the true one. */
  readonly meanCosine: number;
  /** Texts per second on one thread: median of the rounds. */
  readonly textsPerSecond: number;
}

export interface FormResult {
  readonly id: string;
  readonly title: string;
  /** `int4`: weights have 4 bits as far as a smaller file needs it, and 8 bits otherwise. */
  readonly precision: "int8" | "int4" | "float32";
  /** Size of the model's files. */
  readonly bytes?: number;
  readonly scores?: Readonly<Partial<Record<TextSet["id"], Score>>>;
  /** Why the form was not measured. */
  readonly absent?: string;
}

/** Whether a form is one of bert-edge. */
export const isOurs = ({ title }: Pick<FormResult, "title">): boolean => title.startsWith("bert-edge");

/** Content of docs/neighbours.json. */
export interface Results {
  readonly model: string;
  readonly date: string;
  readonly commit: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly load: readonly number[] };
  /** Name of the library that computed the true vectors. */
  readonly truth: string;
  readonly versions: Versions;
  readonly maxTokens: number;
  readonly neighbours: number;
  readonly rounds: number;
  readonly sets: readonly (Pick<TextSet, "id" | "title" | "kind" | "available"> & {
    readonly texts: number;
    readonly tokens: number;
  })[];
  readonly forms: readonly FormResult[];
}

export const resultsFile = join(import.meta.dirname, "../../docs/neighbours.json");

export const readResults = async (): Promise<Results> => JSON.parse(await readFile(resultsFile, "utf8"));
