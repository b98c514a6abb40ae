import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";

const MODELS = "../models";

/** Joins the models of the catalogue, a file each, into one file of a build, by name. */
export async function buildCatalogue(built: string): Promise<void> {
  const files = (await readdir(MODELS)).filter((file) => file.endsWith(".json")).sort();
  const models = files.map(async (file) => [parse(file).name, JSON.parse(await readFile(join(MODELS, file), "utf8"))]);
  await writeFile(join(built, "catalogue.json"), JSON.stringify(Object.fromEntries(await Promise.all(models))));
}
