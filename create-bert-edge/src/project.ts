import type { PackageManager } from "./package-manager.ts";
import type { Model, Plan, Region, Template } from "./questions.ts";

/** Everything that decides what a project's files contain. */
export interface Project {
  readonly name: string;
  readonly model: Model;
  readonly plan: Plan;
  readonly region: Region;
  readonly packageManager: PackageManager;
}

export const templateOf = ({ region }: Pick<Project, "region">): Template =>
  region === "none" ? "edge" : "edge+region";

/** The model's name in storage, and the name of its folder in models/. */
export const modelName = ({ model }: Pick<Project, "model">): string =>
  model === "embedded" ? "bert-edge-mini" : "my-model";
