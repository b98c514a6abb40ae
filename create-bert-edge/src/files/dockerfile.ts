import type { Project } from "../project.ts";
import { replaceOnce } from "./replace-once.ts";

/** The repository's Dockerfile also copies and builds the SDK, which a project gets from the registry. */
export function dockerfile(source: string, { name, packageManager }: Project): string {
  const withoutSdk = source
    .split("\n")
    .filter((line) => !/^COPY (models |sdk|create-bert-edge|tsconfig\.base\.json)/.test(line))
    .join("\n");
  const named = replaceOnce(withoutSdk, /(?<=--tag )\S+/, `${name}-region`);
  if (packageManager === "npm") return named;
  // The image is built with npm, which reads no other lockfile than its own.
  return replaceOnce(replaceOnce(named, / package-lock\.json(?= )/, ""), /npm ci/, "npm install");
}
