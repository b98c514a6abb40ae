import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { sourcePaths } from "../src/project-files.ts";
import type { Template } from "../src/questions.ts";

const here = join(import.meta.dirname, "..");
const repository = join(here, "..");

/** Files of a project that the repository itself does not use. */
const template = ["test/edge.test.js", "tsconfig.json"];

/**
 * Writes the package's dist folder: the command as one file, the sources of a project, and the prepared model.
 *
 * @param artifacts the model's artifact for each template. Files of the same name must be the same.
 */
export async function writePackageFolder(out: string, artifacts: Readonly<Record<Template, string>>): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  await bundle(out);
  for (const path of sourcePaths)
    copy(join(template.includes(path) ? join(here, "template") : repository, path), join(out, "sources", path));
  for (const [name, artifact] of Object.entries(artifacts)) copyArtifact(artifact, join(out, "model"), name);
}

/** Bundles the command with all packages that it uses, and writes their licenses. */
async function bundle(out: string): Promise<void> {
  const { metafile } = await build({
    entryPoints: [join(here, "src/index.ts")],
    outdir: out,
    // Node loads index.js first. It must not contain what old versions of Node cannot load.
    splitting: true,
    absWorkingDir: repository,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    banner: { js: "#!/usr/bin/env node" },
    metafile: true,
    logLevel: "warning",
  });
  const packages = new Set(
    Object.keys(metafile.inputs).flatMap((path) => /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []),
  );
  const licenses = [...packages].sort().map((path) => licenseOf(join(repository, path)));
  writeFileSync(join(out, "licenses.txt"), licenses.join(`\n${"-".repeat(80)}\n\n`));
}

/** Returns a package's name and license. A package without a license file names its license in package.json. */
function licenseOf(folder: string): string {
  const { name, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name}\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : license}\n`;
}

/** Templates share the files of the model, and have a manifest and measurements each. */
function copyArtifact(artifact: string, model: string, name: string): void {
  const documents = ["manifest.json", "measurements.json"];
  for (const file of documents) copy(join(artifact, file), join(model, name, file));
  const { files } = JSON.parse(readFileSync(join(artifact, "manifest.json"), "utf8")) as { files: object };
  for (const file of Object.keys(files)) {
    const [from, to] = [join(artifact, file), join(model, "files", file)];
    if (existsSync(to) && !readFileSync(from).equals(readFileSync(to))) {
      throw new Error(`${file} of the template ${name} differs from that of another template.`);
    }
    copy(from, to);
  }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
