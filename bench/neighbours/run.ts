import { execFileSync } from "node:child_process";
import { basename, resolve } from "node:path";
import onnxruntimeNode from "onnxruntime-node/package.json" with { type: "json" };
import type { StageLog } from "#sdk/cli/stage-log.ts";
import { bytesOf } from "../bytes-of.ts";
import { thisMachine } from "../machine.ts";
import { type EncoderProcess, startEncoder } from "./encoder-process.ts";
import type { Form } from "./forms.ts";
import { type Measured, measure } from "./measure.ts";
import type { FormResult, Results, Score, Versions } from "./results.ts";
import { openSubject, type Subject } from "./subject.ts";
import type { TextSet } from "./texts.ts";
import type { Truth, Truths } from "./truth.ts";

const NEIGHBOURS = 10;

interface Run extends Pick<Subject, "model" | "folder" | "interpreter"> {
  readonly forms: readonly Form[];
  readonly sets: readonly TextSet[];
  readonly truths: Truths;
  readonly rounds: number;
  readonly log: StageLog;
}

/** A form in its process, or the error for which it cannot be measured. */
interface Started extends Pick<FormResult, "bytes"> {
  readonly encoder?: EncoderProcess;
  readonly versions?: Versions;
  readonly error?: Error;
}

/** Makes all forms, and measures those that could be made. */
export async function run({ model, folder, interpreter, forms, sets, truths, rounds, log }: Run): Promise<Results> {
  const about = { model: basename(resolve(model)), date: today(), commit: commitOf(), machine: thisMachine() };
  log.stage("prepare");
  const subject = await openSubject({ model, folder, interpreter });
  const started = new Map<Form, Started>();
  for (const form of forms) {
    log.stage(form.title);
    started.set(form, await start(form, subject));
  }
  const encoders = new Map([...started].flatMap(([form, { encoder }]) => (encoder ? [[form, encoder] as const] : [])));
  const scores = new Map<TextSet["id"], ReadonlyMap<Form, Measured<Form> | Error>>();
  for (const { id, title } of sets) {
    const onRound = (round: number) =>
      log.stage(round === 0 ? `${title}, not timed` : `${title}, round ${round} of ${rounds}`);
    const truth = truths.bySet.get(id) as Truth;
    const measured = await measure(encoders, truth, { neighbours: NEIGHBOURS, rounds, onRound });
    scores.set(id, measured);
    for (const [form, score] of measured) if (score instanceof Error) encoders.delete(form);
  }
  for (const encoder of encoders.values()) await encoder.stop();
  return {
    ...about,
    truth: truths.by,
    versions: Object.assign(
      { node: process.versions.node, "onnxruntime-node": onnxruntimeNode.version, ...truths.versions },
      ...[...started.values()].map(({ versions }) => versions),
    ),
    ...{ maxTokens: truths.maxTokens, neighbours: NEIGHBOURS, rounds },
    sets: sets.map(({ id, title, kind, texts, available }) => ({
      ...{ id, title, kind, texts: texts.length, available },
      tokens: Math.round(meanLength(truths.bySet.get(id) as Truth)),
    })),
    forms: [...started].map(([form, one]) => resultOf(form, one, scores)),
  };
}

async function start(form: Form, subject: Subject): Promise<Started> {
  try {
    const { command, files, versions = {} } = await form.make(subject);
    return { encoder: await startEncoder(command), bytes: await bytesOf(files), versions };
  } catch (error) {
    return { error: error as Error };
  }
}

function resultOf(
  form: Form,
  { bytes, error }: Started,
  bySet: ReadonlyMap<TextSet["id"], ReadonlyMap<Form, Measured<Form> | Error>>,
): FormResult {
  const { id, title, precision } = form;
  const scores = [...bySet].map(([set, of]) => [set, of.get(form)] as const);
  const failed = error ?? scores.map(([, score]) => score).find((score) => score instanceof Error);
  if (failed) return { id, title, precision, absent: failed.message };
  const named = scores.flatMap(([set, score]): [string, Score][] =>
    score && !(score instanceof Error) ? [[set, { ...score, tied: score.tied.map((other) => other.id) }]] : [],
  );
  return { ...{ id, title, precision }, ...(bytes !== undefined && { bytes }), scores: Object.fromEntries(named) };
}

const meanLength = ({ ids }: Truth): number => ids.reduce((sum, { length }) => sum + length, 0) / ids.length;

const today = (): string => new Date().toISOString().slice(0, 10);

/** Returns the commit of this checkout, with "-dirty" if files differ from it. */
const commitOf = (): string =>
  execFileSync("git", ["describe", "--always", "--dirty"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
