import { type PackageManager, packageManagers } from "./package-manager.ts";

/** A choice that the user makes with a flag or in a prompt. */
export interface Question<Value extends string> {
  readonly message: string;
  /** Each value with its explanation. The first value is the default. */
  readonly values: Readonly<Record<Value, string>>;
}

export type Template = "edge" | "edge+region";
export type Model = "embedded" | "own";
export type Plan = "free" | "paid";
export type Region = "none" | "aws" | "container";

export const model: Question<Model> = {
  message: "Which model do you want to serve?",
  values: {
    embedded: "bert-edge-mini, 18 MB, comes with the project",
    own: "your own, which you prepare later",
  },
};

export const plan: Question<Plan> = {
  message: "Which Workers plan do you have?",
  values: {
    free: "10 ms of CPU time per request: enough for 20 to 100 words",
    paid: "30 s of CPU time per request",
  },
};

export const region: Question<Region> = {
  message: "Do you want a region: a server that answers when the Worker is too slow?",
  values: {
    none: "no, the Worker answers everything",
    aws: "on AWS Lambda",
    container: "on any container host",
  },
};

export const packageManager: Question<PackageManager> = {
  message: "Which package manager do you use?",
  values: packageManagers,
};

/** The regions that a template can have. The first one is the default. */
export const regionsOf: Readonly<Record<Template, readonly Region[]>> = {
  edge: ["none"],
  "edge+region": ["container", "aws"],
};

export const valuesOf = <Value extends string>(question: Question<Value>): Value[] =>
  Object.keys(question.values) as Value[];
