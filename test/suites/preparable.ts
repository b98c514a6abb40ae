import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type PrepareOptions, type PrepareReport, prepare } from "../../sdk/src/build/prepare.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { type TinyFolderOptions, type TinyValues, writePreparableCheckpoint } from "./tiny-bert.ts";

export interface Preparable {
  readonly parent: string;
  readonly folder: string;
  /** A place for an artifact. */
  readonly out: string;
  readonly run: (more?: Partial<PrepareOptions>) => Promise<PrepareReport>;
}

/** A tiny checkpoint in a folder of its own, and a place for an artifact beside it. */
export async function preparable(options?: TinyFolderOptions): Promise<Preparable> {
  const parent = await temporaryFolder();
  const folder = join(parent, "tiny-model");
  await writePreparableCheckpoint(folder, options);
  const out = join(parent, "artifact");
  return { parent, folder, out, run: (more = {}) => prepare({ folder, out, ...more }) };
}

/** Every file below a folder with its content. */
export async function listing(folder: string): Promise<Map<string, string>> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path, "latin1")] as const)));
}

export type Edit = (values: TinyValues) => void;

const valuesOf = (values: TinyValues, name: string) => {
  const found = values.get(name);
  if (!found) throw new Error(`nothing is named ${name}`);
  return found;
};

/** One number of a tensor. */
export const set =
  (name: string, value: number): Edit =>
  (values) => {
    valuesOf(values, name).values[3] = value;
  };

/** All numbers of some tensors. */
export const fill =
  (value: number, ...names: readonly string[]): Edit =>
  (values) => {
    for (const name of names) valuesOf(values, name).values.fill(value);
  };

/** Channel 3 of a vector; that column or row of a matrix [out, in]. */
export const scale =
  (name: string, factor: number, axis: "column" | "row" = "column"): Edit =>
  (values) => {
    const { shape, values: numbers } = valuesOf(values, name);
    const width = shape[1] ?? 1;
    numbers.forEach((number, i) => {
      const at = shape.length > 1 && axis === "column" ? i % width : Math.floor(i / width);
      if (at === 3) numbers[i] = number * factor;
    });
  };
