import type { Artifact } from "../../artifact/artifact.ts";
import type { Parity, Target, TargetName, TaskScore } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { type Engine, type EngineSession, type ModelFiles, oneModel } from "../../runtime/engine/engine.ts";
import { modelFilesOf } from "../../runtime/model-files.ts";
import { modelOf } from "../../runtime/start-model.ts";
import { protocolOf } from "../../runtime/tasks/late-interaction.ts";
import { loadTokenizer } from "../../runtime/tokenizer/load-tokenizer.ts";
import { openFiles, openFolder } from "../../storage/folder-artifact.ts";
import {
  belowLimit,
  chosenLimit,
  compareLines,
  type GoldenAgreement,
  quantizedGolden,
  summaryOf,
} from "../accuracy/golden/compare-lines.ts";
import { describedLine } from "../accuracy/golden/golden-remarks.ts";
import { type GoldenOptions, readGolden } from "../accuracy/golden/read-golden.ts";
import { INT8_LIMIT, shortfall } from "../accuracy/limits.ts";
import { comparedAs, parity } from "../accuracy/parity.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { readTaskData, type TaskFiles } from "../accuracy/task-data.ts";
import { inputsOf, runInParts, runTask } from "../model/run-task.ts";
import { type TextOrPair, tokenizeTexts } from "../model/tokenize-texts.ts";
import type { RunOptions } from "../stages/stage.ts";

export interface VerifyOptions extends TaskFiles, GoldenOptions, RunOptions {
  /** An artifact folder, an open artifact, or the files of an artifact folder. */
  artifact: string | Artifact | ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

export interface VerifiedTarget {
  readonly engine: Target["engine"];
  readonly precision: Target["precision"];
  /** Agreement with the float32 model, as `prepare` measured it. */
  readonly recorded: Parity;
  /**
   * Agreement with the most precise target, as `verify` measured it on this machine; undefined for the most precise
   * target itself.
   */
  readonly agreement: Parity | undefined;
  /** Score on the given task data; undefined without task data. */
  readonly task: Pick<TaskScore, "metric" | "score"> | undefined;
  /** Agreement with the golden file; undefined without one. If a line differs too much, `failure` names the worst line. */
  readonly golden: (GoldenAgreement & { readonly failure: string | undefined }) | undefined;
  /** Reason not to serve this target together with the most precise target; undefined if their results agree. */
  readonly failure: string | undefined;
}

export type VerifyReport = Partial<Record<TargetName, VerifiedTarget>>;

/** Precisions, the most precise first. */
const byPrecision: readonly Target["precision"][] = ["fp16", "int8-blocks", "int8-mixed", "int8-edge", "int8"];

/**
 * Runs every target of an artifact on its engine, one after the other, and compares the target's results with those of
 * the most precise target. The most precise target itself is not compared, because an artifact has no float32 model.
 *
 * @throws BertEdgeError `artifact_missing`, `artifact_corrupt`, `tokenizer_invalid`, `package_missing`, `engine_failed`,
 *   `data_missing`, `data_invalid`, `data_unsuitable`, `aborted`
 */
export async function verify({
  artifact: given,
  onProgress,
  signal,
  golden: goldenFile,
  goldenMin,
  ...files
}: VerifyOptions): Promise<VerifyReport> {
  const artifact = await open(given);
  const { manifest } = artifact;
  const data = await readTaskData(manifest, files);
  const golden = goldenFile === undefined ? undefined : await openGolden(goldenFile);
  const tokenizer = await loadTokenizer(manifest, artifact.read);
  const { name: model, maxTokens, vocabulary } = manifest;
  const encode = tokenizeTexts(model, tokenizer, maxTokens, vocabulary, protocolOf(manifest));
  const targets = (Object.entries(manifest.targets) as [TargetName, Target][]).toSorted(
    ([, a], [, b]) => byPrecision.indexOf(a.precision) - byPrecision.indexOf(b.precision),
  );
  const engines = new Map<Target["engine"], Engine>();
  for (const [, { engine }] of targets) engines.set(engine, await engineOnThisMachine(engine));
  const report: VerifyReport = {};
  let best: { results: Float32Array[]; score: number | undefined } | undefined;
  for (const [name, { engine, precision, parity: recorded }] of targets) {
    const session = await (engines.get(engine) as Engine).load(await filesOf(artifact, engine, name));
    const message = `measure ${name} on ${engine}`;
    const progress = (fraction: number) => onProgress?.({ stage: "measure", message, fraction });
    const inParts = runInParts(session, { signal, progress });
    const compute = (texts: readonly TextOrPair[]) => runTask(inParts, manifest, encode(texts));
    try {
      const results = await compute(inputsOf(manifest, probeTexts));
      const score = await data?.score(compute);
      const agreement = best && parity(best.results, results, comparedAs(manifest, manifest.vocabulary));
      const task = data && score !== undefined ? { metric: data.metric, score } : undefined;
      const compared = task && best?.score !== undefined ? { ...task, fp32: best.score } : undefined;
      const failure = agreement && shortfall({ parity: agreement, task: compared }, INT8_LIMIT);
      best ??= { results, score };
      report[name] = {
        ...{ engine, precision, recorded, agreement, task, failure },
        golden: await golden?.(session, precision),
      };
    } finally {
      await session.release();
    }
  }
  return report;

  /** Reads a golden file. Returns a function that compares a target with it. */
  async function openGolden(file: string) {
    const lines = await readGolden(file, { task: manifest, vocabulary: manifest.vocabulary });
    return async (session: EngineSession, precision: Target["precision"]) => {
      const limit = chosenLimit(goldenMin, quantizedGolden(precision));
      const progress = (fraction: number) =>
        onProgress?.({ stage: "measure", message: `compare with ${file}`, fraction });
      const compared = await compareLines(modelOf(artifact, tokenizer, session), lines, { progress });
      const [worst] = belowLimit(compared, limit);
      return { ...summaryOf(file, compared), failure: worst && describedLine(worst, limit) };
    };
  }
}

/** Reads the files of one target, because an engine may choose between targets. */
async function filesOf(artifact: Artifact, engine: Engine["name"], name: TargetName): Promise<ModelFiles> {
  const files = modelFilesOf(artifact, engine);
  return oneModel(await files.read(name), await files.readPages(name, 0, files.pagesSize(name)));
}

async function open(artifact: VerifyOptions["artifact"]): Promise<Artifact> {
  if (typeof artifact === "string") return openFolder(artifact);
  return artifact instanceof Map ? openFiles(artifact) : (artifact as Artifact);
}
