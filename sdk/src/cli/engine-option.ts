import { Option } from "commander";
import type { Artifact } from "../artifact/artifact.ts";
import type { Target } from "../artifact/manifest.ts";

export type EngineName = Target["engine"];

const engines = ["wasm", "ort-web", "ort-node"] as const satisfies readonly EngineName[];

/** The option that chooses the engine of a command that embeds texts. */
export const engineOption = (): Option =>
  new Option(
    "--engine <engine>",
    "default: the engine of regional-cpu, or of edge if the artifact has no regional-cpu",
  ).choices(engines);

/** Returns the chosen engine, or the default one for an artifact. */
export function chosenEngine({ manifest }: Pick<Artifact, "manifest">, chosen: EngineName | undefined): EngineName {
  const { edge, "regional-cpu": native } = manifest.targets;
  return chosen ?? native?.engine ?? edge?.engine ?? "ort-node";
}
