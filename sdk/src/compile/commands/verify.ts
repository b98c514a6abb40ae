import type { Artifact } from "../../artifact/artifact.ts";
import type { Parity, Target, TargetName, TaskScore } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { loadTokenizer } from "../../runtime/tokenizer/load-tokenizer.ts";
import { INT8_LIMIT, shortfall } from "../accuracy/limits.ts";
import { parity } from "../accuracy/parity.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { readTaskData, type TaskFiles } from "../accuracy/task-data.ts";
import { encoderOf } from "../model/text-encoder.ts";
import { vectorHead } from "../model/vector-head.ts";

export interface VerifiedTarget {
  readonly engine: Target["engine"];
  readonly precision: Target["precision"];
  /** Agreement with float32, as `prepare` found it. */
  readonly recorded: Parity;
  /** Agreement with the artifact's most precise target, on this machine now; undefined for that target itself. */
  readonly agreement: Parity | undefined;
  /** On the data given. */
  readonly task: Pick<TaskScore, "metric" | "score"> | undefined;
  /** Why it should not be served beside the most precise target; undefined when it may. */
  readonly failure: string | undefined;
}

export type VerifyReport = Partial<Record<TargetName, VerifiedTarget>>;

/** The most precise first. */
const byPrecision: readonly Target["precision"][] = ["fp16", "int8-blocks", "int8-edge", "int8"];

/**
 * Runs every target of an artifact on the engine it is for, one after the other: do they agree, and how well do they do? The
 * float32 model is not part of an artifact, so the most precise target has nothing to be compared with.
 *
 * @throws BertEdgeError `artifact_corrupt`, `tokenizer_invalid`, `engine_failed`, `data_missing`, `data_invalid`, `data_unsuitable`
 */
export async function verifyArtifact(artifact: Artifact, files: TaskFiles = {}): Promise<VerifyReport> {
  const { manifest } = artifact;
  const data = await readTaskData(manifest, files);
  const tokenizer = await loadTokenizer(manifest, artifact.read);
  const encode = encoderOf(manifest.name, tokenizer, manifest.maxTokens, manifest.vocabulary);
  const targets = (Object.entries(manifest.targets) as [TargetName, Target][]).toSorted(
    ([, a], [, b]) => byPrecision.indexOf(a.precision) - byPrecision.indexOf(b.precision),
  );
  const report: VerifyReport = {};
  let best: { results: Float32Array[]; score: number | undefined } | undefined;
  for (const [name, { engine, precision, model, parity: recorded }] of targets) {
    const session = await (await engineOnThisMachine(engine)).load(oneModel(await artifact.read(model)));
    const compute = async (texts: readonly string[]) => session.run(encode(texts), vectorHead(manifest));
    try {
      const results = await compute(probeTexts);
      const score = await data?.score(compute);
      const agreement = best && parity(best.results, results, manifest.task);
      const task = data && score !== undefined ? { metric: data.metric, score } : undefined;
      const compared = task && best?.score !== undefined ? { ...task, fp32: best.score } : undefined;
      const failure = agreement && shortfall({ parity: agreement, task: compared }, INT8_LIMIT);
      best ??= { results, score };
      report[name] = { engine, precision, recorded, agreement, task, failure };
    } finally {
      await session.release();
    }
  }
  return report;
}
