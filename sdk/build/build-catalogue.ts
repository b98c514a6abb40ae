import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";

const MODELS = "../models";

/** Joins the models of the catalogue, a file each, into the module `#embedded/catalogue` of a build, by name: JSON, as a string. */
export async function buildCatalogue(built: string): Promise<void> {
  const files = (await readdir(MODELS)).filter((file) => file.endsWith(".json")).sort();
  const models = files.map(async (file) => [parse(file).name, JSON.parse(await readFile(join(MODELS, file), "utf8"))]);
  const json = JSON.stringify(Object.fromEntries(await Promise.all(models)));
  await mkdir(join(built, "embedded"), { recursive: true });
  await writeFile(join(built, "embedded/catalogue.js"), `export default ${JSON.stringify(json)};\n`);
}
