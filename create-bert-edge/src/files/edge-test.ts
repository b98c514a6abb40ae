import { modelName, type Project } from "../project.ts";
import { replaceOnce } from "./replace-once.ts";

export const edgeTest = (source: string, project: Project): string =>
  replaceOnce(source, /(?<="models\/)[^"]+/, modelName(project));
