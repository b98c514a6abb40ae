import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printNote } from "#sdk/cli/output.ts";
import { pythonWith } from "#test/fixtures/python-with.ts";
import { runCommand } from "#test/fixtures/run-command.ts";
import { askerOf } from "./ask.ts";
import { type EdgeAgreement, edgeAgreement, type Float32Agreement, float32Agreement } from "./heads/compare-answers.ts";
import type { ExpectedAnswer, HeadAnswer } from "./heads/head-answer.ts";
import { type HeadCase, headCases } from "./heads/head-cases.ts";
import { type HeadTexts, readHeadTexts } from "./heads/texts.ts";
import { onTiers } from "./on-tiers.ts";
import { sharedFile } from "./shared-file.ts";

/** transformers 5.2 is the last version with a pipeline for question answering. */
const PACKAGES = ["torch", "transformers==5.2.*"];

const ENCODER = join(import.meta.dirname, "../../models/default");
const script = (name: string) => join(import.meta.dirname, "heads", name);

export interface HeadReport {
  readonly head: string;
  /** Whether the model's head was trained. Others have random weights. */
  readonly trained: boolean;
  readonly float32: Float32Agreement;
  /** How far the edge's rounding moves a logit, at most: `maxAbsDiff` of the artifact's target, measured on other texts. */
  readonly noise: number;
  /** undefined if our engine cannot run the model, so that it was not served at the edge. */
  readonly edge: EdgeAgreement | undefined;
}

export interface HeadsReport {
  readonly transformers: string;
  readonly heads: readonly HeadReport[];
  /** Whether all answers in float32, and all choices beyond the noise at the edge, are those of transformers. */
  readonly ok: boolean;
}

/**
 * Compares what each head answers through HTTP with transformers.
 *
 * @param trained folder with trained models, which are used instead of those with random heads: `<folder>/tag`, …
 * @param only names of heads. Default: all
 * @throws DataMissing without one of the data sets, or without the trained classifier
 */
export async function comparedHeads(trained: string | undefined, only: readonly string[]): Promise<HeadsReport> {
  const texts = await readHeadTexts();
  const work = await mkdtemp(join(tmpdir(), "bert-edge-heads-"));
  try {
    const python = await pythonWith(work, PACKAGES);
    const made = join(work, "models");
    printNote("make models");
    await runCommand(work, python, "-B", script("make_models.py"), ENCODER, made);
    const heads: HeadReport[] = [];
    let transformers = "";
    for (const [head, each] of Object.entries(headCases)) {
      if (only.length > 0 && !only.includes(head)) continue;
      const own = trainedFolder(each, trained);
      const compared = await comparedHead(each, { work, python, folder: own ?? join(made, each.model), texts });
      transformers = compared.transformers;
      heads.push({ head, trained: own !== undefined, ...compared.agreement });
      printNote(JSON.stringify(heads.at(-1)));
    }
    return { transformers, heads, ok: heads.every(isRight) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the folder of a head's trained model, if there is one. */
function trainedFolder({ model, isShared = false }: HeadCase, trained: string | undefined): string | undefined {
  if (isShared) return sharedFile(`models/${model}`);
  const folder = trained === undefined ? undefined : join(trained, model);
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

export const isRight = ({ float32, edge }: HeadReport): boolean =>
  float32.equal === float32.texts && edge?.equal === edge?.beyondNoise;

interface Comparison {
  readonly work: string;
  readonly python: string;
  readonly folder: string;
  readonly texts: HeadTexts;
}

async function comparedHead(
  { pipeline, model, choice, inputs, answers }: HeadCase,
  { work, python, folder, texts }: Comparison,
) {
  const asked = inputs(texts);
  const [input, output] = [join(work, "inputs.json"), join(work, "answers.json")];
  await writeFile(input, JSON.stringify(asked));
  printNote(`${model}: transformers`);
  await runCommand(work, python, "-B", script("pipelines.py"), pipeline, folder, input, output);
  const expected = JSON.parse(await readFile(output, "utf8")) as { transformers: string; answers: ExpectedAnswer[] };
  const found: Partial<Record<string, HeadAnswer[]>> = {};
  const { targets } = await onTiers({ folder, name: model, ...choice }, ["float32", "edge"], async (tier, url) => {
    found[tier] = await answers(askerOf(url), asked);
  });
  const noise = targets.edge?.parity.maxAbsDiff ?? Number.NaN;
  const float32 = float32Agreement(expected.answers, found["float32"] ?? []);
  const other = float32.firstOther;
  if (other >= 0) {
    const wanted = JSON.stringify(expected.answers[other]).slice(0, 2_000);
    printNote(`${JSON.stringify(asked[other])}\n  transformers: ${wanted}`);
    printNote(`  float32:      ${JSON.stringify(found["float32"]?.[other]).slice(0, 2_000)}`);
  }
  return {
    transformers: expected.transformers,
    agreement: { float32, noise, edge: found["edge"] && edgeAgreement(expected.answers, found["edge"], noise) },
  };
}
