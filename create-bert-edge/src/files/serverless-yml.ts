import { type Project, servedNames } from "../project.ts";
import { replaceOnce } from "./replace-once.ts";

export const serverlessYml = (source: string, project: Project): string =>
  replaceOnce(
    replaceOnce(source, /(?<=^service: ).*$/m, project.name),
    /(?<=\$\{env:MODEL, ')[^']*/,
    servedNames(project),
  );
