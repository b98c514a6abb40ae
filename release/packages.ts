import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The part of a package.json that a release needs. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly repository?: string | { readonly url?: string };
}

/** Folders of the published packages, in the order in which they are published. */
export const packages = ["sdk", "create-bert-edge"] as const;

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(import.meta.dirname, "..", folder, "package.json"), "utf8")) as Manifest;
