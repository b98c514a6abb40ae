// Compares answers of the edge, in workerd and int8, and of a region in float32 with those of sentence-transformers and transformers.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import type { TaskChoice } from "#sdk/compile/model/describe-model.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { commandLine } from "../../commands/command-line.ts";
import { float32Artifact, float32Engine } from "../../fixtures/float32-model.ts";
import { pythonWith } from "../../fixtures/python-with.ts";
import { runCommand } from "../../fixtures/run-command.ts";
import { KEY, servedEdge, servedRegion } from "../../fixtures/served-tiers.ts";

const { positionals } = commandLine(
  `npm run e2e:authors [-- <model folder>...]
Compares answers with those of sentence-transformers and transformers: those of PYTHON, else new ones from PyPI. Default: the default
model. Sentence encoders of other folders are compared too.`,
  {},
  { allowPositionals: true },
);

/** The last version of transformers with the pipeline for question answering. */
const packages = ["torch", "sentence-transformers", "transformers==5.2.*"];
const SCRIPT = join(import.meta.dirname, "authors.py");
const encoders = [join(import.meta.dirname, "../../../models/default"), ...positionals];
const choices: Readonly<Record<string, TaskChoice>> = {
  pairs: { input: "pair" },
  inference: { input: "pair" },
  words: { task: "fill-mask" },
};
/** Models with outputs for each token are compared in float32 alone: int8 changes which tokens are best. */
const PER_TOKEN = ["people", "facts", "words"];

const folder = await mkdtemp(join(tmpdir(), "bert-edge-authors-"));
try {
  const python = await pythonWith(folder, packages);
  const models = join(folder, "models");
  await runCommand(folder, python, "-B", SCRIPT, "write", models, ...encoders);
  const names = await readdir(models);
  const compare = async (tier: "edge" | "region", artifacts: readonly PublishableArtifact[]) => {
    const { url, stop } = await (tier === "edge" ? servedEdge(artifacts) : servedRegion(artifacts, float32Engine()));
    try {
      const served = artifacts.map(({ manifest }) => manifest.name);
      await runCommand(folder, python, "-B", SCRIPT, "compare", models, tier, url, KEY, ...served);
    } finally {
      await stop();
    }
  };
  const inFloat32: PublishableArtifact[] = [];
  for (const name of names) inFloat32.push(await float32Artifact(join(models, name), choices[name], name));
  await compare("region", inFloat32);
  const atEdge: PublishableArtifact[] = [];
  for (const name of names.filter((each) => !PER_TOKEN.includes(each))) {
    const out = join(folder, `${name}-artifact`);
    await prepare({ ...choices[name], model: join(models, name), out, name, targets: ["edge"], fast: true });
    atEdge.push(await openFolder(out));
  }
  await compare("edge", atEdge);
} finally {
  await rm(folder, { recursive: true, force: true });
}
