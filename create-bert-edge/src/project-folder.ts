import { accessSync, constants, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { ScaffoldError } from "./scaffold-error.ts";

/** A bucket's name has at most 63 characters, and the project's bucket is named `<name>-models`. */
const MAX_NAME_LENGTH = 63 - "-models".length;

/** The name of a project: the last part of its folder's path. It also names the Worker. */
export const projectName = (folder: string): string => basename(resolve(folder));

/**
 * Checks that a project can be created in a folder.
 *
 * @throws ScaffoldError `name_invalid`, `folder_unusable`, `folder_occupied`
 */
export function assertUsable(folder: string): void {
  const name = projectName(folder);
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) || name.length > MAX_NAME_LENGTH) {
    throw new ScaffoldError(
      "name_invalid",
      `"${name}" cannot be the name of a Worker.`,
      `Use at most ${MAX_NAME_LENGTH} of a-z, 0-9 and hyphens, such as "${suggestedName(name)}".`,
    );
  }
  const content = entriesOf(resolve(folder)).filter((entry) => entry !== ".git");
  if (content.length === 0) return;
  throw new ScaffoldError(
    "folder_occupied",
    `${folder} is not empty: it contains ${content.slice(0, 3).join(", ")}${content.length > 3 ? ", …" : ""}.`,
    "Give another folder: `npx create-bert-edge <folder>`.",
  );
}

const suggestedName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_NAME_LENGTH)
    .replace(/^-+|-+$/g, "") || "my-api";

/** Lists a folder. A folder that does not exist is empty, if it can be created. */
function entriesOf(folder: string): string[] {
  try {
    const existing = nearestExisting(folder);
    const entries = readdirSync(existing);
    accessSync(existing, constants.W_OK | constants.X_OK);
    return existing === folder ? entries : [];
  } catch (error) {
    throw new ScaffoldError(
      "folder_unusable",
      `A project cannot be created in ${folder}: ${(error as Error).message}.`,
      "Give another folder: `npx create-bert-edge <folder>`.",
    );
  }
}

/** A link to nothing exists: no folder can be made in its place. */
function nearestExisting(path: string): string {
  const parent = dirname(path);
  return path === parent || lstatSync(path, { throwIfNoEntry: false }) ? path : nearestExisting(parent);
}
