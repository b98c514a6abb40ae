import type { PackageManager } from "./package-manager.ts";
import type { Model, Plan, Region, Template } from "./questions.ts";

/** Everything that decides what a project's files contain. */
export interface Project {
  readonly name: string;
  readonly model: Model;
  readonly plan: Plan;
  readonly region: Region;
  readonly packageManager: PackageManager;
  /** MODEL and the bucket of a project that exists already. Default: those of a new project. */
  readonly served?: string | undefined;
  readonly bucket?: string | undefined;
}

export const templateOf = ({ region }: Pick<Project, "region">): Template =>
  region === "none" ? "edge" : "edge+region";

/** Name of the model that comes with a project. */
export const EMBEDDED = "bert-edge-mini";

/** The model's name in storage, and the name of its folder in models/. */
export const modelName = ({ model, served }: Pick<Project, "model" | "served">): string =>
  served?.split(",")[0]?.trim() ?? (model === "embedded" ? EMBEDDED : "my-model");

/** The names of all models that a project serves, as MODEL has them. */
export const servedNames = (project: Pick<Project, "model" | "served">): string => project.served ?? modelName(project);
