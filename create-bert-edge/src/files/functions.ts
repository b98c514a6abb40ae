import { type Project, servedNames } from "../project.ts";
import type { Plan } from "../questions.ts";
import { replaceOnce } from "./replace-once.ts";

/** CPU time per request, in ms: https://developers.cloudflare.com/workers/platform/limits/#cpu-time */
const cpuLimitMs: Readonly<Record<Plan, string>> = { free: "10", paid: "30_000" };

export const edgeSettings = (source: string, { plan }: Project): string =>
  replaceOnce(source, /(?<=^ {2}cpuLimitMs: )[\d_]+/m, cpuLimitMs[plan]);

export const regionFunction = (source: string, project: Project): string =>
  replaceOnce(source, /(?<=MODEL \?\? )"[^"]*"/, `"${servedNames(project)}"`);
