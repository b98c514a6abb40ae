import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { type Manifest, type Parity, type TargetName, targetNames } from "../../artifact/manifest.ts";
import type { Measurements } from "../../artifact/measurements.ts";
import { once } from "../../artifact/once.ts";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import { type ModelReading, readingOf } from "../../runtime/reading.ts";
import { loadTokenizer } from "../../runtime/tokenizer/load-tokenizer.ts";
import { openFiles, openFolder } from "../../storage/folder-artifact.ts";
import type { GoldenAgreement } from "../accuracy/golden/compare-lines.ts";
import { type GoldenOptions, readGolden } from "../accuracy/golden/read-golden.ts";
import { goldenTextsOf } from "../accuracy/golden-texts.ts";
import { assertVaries } from "../accuracy/sound-model.ts";
import { readTaskData, type TaskFiles } from "../accuracy/task-data.ts";
import { catalogueModelOf } from "../checkpoint/hub/catalogue.ts";
import { tokenBatches } from "../evaluate/token-batches.ts";
import { withWorkFolder } from "../files/folders.ts";
import type { ExcusedParts } from "../fusions/unfused-parts.ts";
import { estimatedChoice, shapeOfConfig } from "../latency/edge-forms.ts";
import { type FitTable, forecastOf, type PredictedLatency } from "../latency/platforms/forecast.ts";
import { type PreparedEdge, preparedEdge } from "../latency/prepared-edge.ts";
import { byFrequency } from "../lower/cut-into-pages.ts";
import { describeModel, type ModelDescription, type TaskChoice } from "../model/describe-model.ts";
import { inputsOf, takesPairs } from "../model/run-task.ts";
import { assertReplaceable, writeMeasurements } from "../pack/write-artifact.ts";
import { calibrationTexts } from "../quantize/calibration/calibration-texts.ts";
import { assembleArtifact, manifestOf, modelName } from "../stages/assemble-artifact.ts";
import { checkFusion } from "../stages/check.ts";
import { checkGolden } from "../stages/check-golden.ts";
import { contentKey, modelKey } from "../stages/content-key.ts";
import { estimate } from "../stages/estimate.ts";
import { fuse } from "../stages/fuse.ts";
import { type HubSource, locateModel } from "../stages/locate-model.ts";
import {
  type MadeTarget,
  makeTarget,
  type PassedOver,
  type RegionPrecision,
  recipesFor,
} from "../stages/make-target.ts";
import { checkMemory } from "../stages/memory-need.ts";
import { observe } from "../stages/observe.ts";
import { readFolder } from "../stages/read.ts";
import { type RunOptions, type StageReport, startRun } from "../stages/stage.ts";
import { fromCache, openStageCache } from "../stages/stage-cache.ts";
import { time } from "../stages/time.ts";
import { writeFolder } from "../stages/write.ts";
import { checkPrepareOptions } from "./check-prepare-options.ts";
import { type PrepareWarning, warningsOf } from "./prepare-warnings.ts";

export interface PrepareOptions extends TaskFiles, GoldenOptions, TaskChoice, RunOptions {
  /**
   * A Hugging Face model folder: its path, or a map of its files, by path relative to the folder. The folder has
   * config.json, tokenizer.json, and model.safetensors, pytorch_model.bin or model.onnx. Instead of a folder, `model` can be
   * the path of an .onnx file in such a folder, or a model of the Hugging Face Hub: `organization/model`,
   * `organization/model@revision` or the address of its page.
   */
  model: string | ReadonlyMap<string, Uint8Array>;
  /**
   * Folder for the artifact. An earlier artifact in it is replaced. Without a folder, the report has the artifact in
   * memory.
   */
  out?: string | undefined;
  /**
   * The model's name in storage keys, URLs and headers. Default: the model folder's name. A model in memory has no
   * default.
   */
  name?: string | undefined;
  /** Default: all targets. */
  targets?: readonly TargetName[];
  /**
   * Typical texts. Activations are observed on up to 1,000 of them, and the tokens of all decide which rows of a vocabulary in pages stay
   * in memory. Default: texts of this package.
   */
  calibration?: readonly string[] | undefined;
  /**
   * Bits per element of the token embedding table in int8 targets. With 4 bits, large vocabularies fit into an isolate.
   * Default 8.
   */
  tableBits?: 8 | 4;
  /** Bits of the weights of the edge's linear layers. With 4 bits, the model file is smaller, and less accurate. Default 8. */
  weightBits?: 8 | 4;
  /**
   * Maximum bytes of the edge's model file. It decides the bits of each layer's weights and of the table, so that the file loses as
   * little accuracy as possible. Not together with `weightBits` and `tableBits`.
   */
  maxSize?: number | undefined;
  /**
   * Maximum bytes of the edge's weights in memory. Weights of 4 bits are expanded when the model is loaded, if they then fit, and
   * otherwise in each call, which takes longer. If they still do not fit, the vocabulary is cut into pages: rows of rare tokens are read
   * from the store when they are needed. Default: three quarters of an isolate's memory.
   */
  maxMemory?: number | undefined;
  /**
   * Whether the vocabulary of the edge's model is cut into pages although it fits into memory: a cold isolate then waits for the rows of
   * frequent tokens only, and reads those of rare ones when they are needed. Default false: it is cut only if it does not fit.
   */
  pages?: boolean | undefined;
  /**
   * Precision of the target `regional-cpu`. `int8` is faster than the default `int8-mixed`, `int8-blocks` is slower. The
   * faster a precision is, the less its vectors agree with those of the edge.
   */
  regionPrecision?: RegionPrecision;
  /**
   * Minimum mean cosine between the results of a target and of the float32 model. A number below the target's own limit
   * (int8: 0.99, fp16: 0.9999) has no effect.
   */
  minCosine?: number | undefined;
  /** Number of timed rounds. Default 7. */
  timingRounds?: number;
  /**
   * Prepares for a first look: the edge target alone unless `targets` is given, an eighth of the calibration texts, and two timed
   * rounds. The manifest and the report say so. Default false.
   */
  fast?: boolean | undefined;
  /** Whether to continue if the edge is the only target and its weights do not fit into an isolate. Default false. */
  force?: boolean | undefined;
  /**
   * Folder in which results of stages are kept. A later run repeats only the stages whose input has changed. Default: none.
   * `bert-edge prepare` and `bert-edge dev` use `stageCacheFolder()`.
   */
  cache?: string | undefined;
}

export interface PrepareReport {
  /** Where the model was downloaded from; undefined for a local model. */
  readonly source: HubSource | undefined;
  readonly manifest: Manifest;
  /**
   * First 12 hexadecimal digits of the manifest's SHA-256. The same model with the same options has the same version on
   * the same kind of machine.
   */
  readonly version: string;
  /** Description of how the model reads texts and how its outputs are used. */
  readonly reading: ModelReading;
  /** Time and memory of the targets on this machine. */
  readonly measurements: Measurements;
  /** Agreement of the float32 model with the golden file; undefined without one. */
  readonly golden: GoldenAgreement | undefined;
  /** Agreement between the fused and the unfused float32 graph. */
  readonly fusion: Parity;
  readonly nodes: { readonly before: number; readonly after: number };
  /** Number of nodes for each fused operator, by operator name. */
  readonly fused: Readonly<Record<string, number>>;
  /** Parts that are not fused because onnxruntime has no operator for them. */
  readonly excused: readonly ExcusedParts[];
  /** Predicted milliseconds for texts of some lengths, for each timed target. */
  readonly latency: PredictedLatency;
  /** Where each target fits, which limit binds, and what a million requests cost. */
  readonly fit: FitTable;
  /** What the edge target takes; undefined without one for our engine. */
  readonly edge?: PreparedEdge;
  /** Sentences about what was assumed, cut or left out. */
  readonly warnings: readonly PrepareWarning[];
  /** Engines that could not run a target or were not accurate enough, and why. */
  readonly passedOver: readonly PassedOver[];
  /** The stages in the order in which they ran. */
  readonly stages: readonly StageReport[];
}

/** A report with the artifact. `prepare` returns it if `out` is not set. */
export interface PreparedArtifact extends PrepareReport {
  readonly artifact: PublishableArtifact;
}

/**
 * Makes an artifact from a checkpoint: read → estimate → compare with the golden file → fuse → check → observe → quantize and measure
 * each target → time → write. If any check fails, nothing is written. The output folder, the packages, the task and its data are
 * checked before the weights are read.
 *
 * @throws BertEdgeError `setting_invalid`, `name_invalid`, `out_occupied`, `out_unwritable`, `package_missing`, `data_missing`,
 *   `data_invalid`, `data_unsuitable`, `golden_mismatch`, `aborted`, and the errors of the stages
 */
export function prepare(options: PrepareOptions & { out: string }): Promise<PrepareReport>;
export function prepare(options: PrepareOptions & { out?: undefined }): Promise<PreparedArtifact>;
export function prepare(options: PrepareOptions): Promise<PrepareReport | PreparedArtifact>;
export async function prepare(options: PrepareOptions): Promise<PrepareReport | PreparedArtifact> {
  checkPrepareOptions<keyof PrepareOptions>(options);
  const {
    out,
    tableBits = 8,
    weightBits,
    maxSize,
    maxMemory,
    pages,
    minCosine = 0,
    regionPrecision = "int8-mixed",
    fast = false,
  } = options;
  const targets = options.targets ?? (fast ? (["edge"] as const) : targetNames);
  const given = options.calibration ?? calibrationTexts;
  const counted = fast ? given.filter((_, i) => i % FAST_EVERY === 0) : given;
  const every = Math.ceil(counted.length / MAX_OBSERVED);
  const calibration = counted.filter((_, i) => i % every === 0);
  const rounds = options.timingRounds ?? (fast ? FAST_ROUNDS : undefined);
  const name = modelName(options.name, options.model);
  if (out !== undefined) await assertReplaceable(out);
  await onnxruntimeNode();
  return withWorkFolder(tmpdir(), async (folder) => {
    const { run, reports: stages } = startRun(options, folder);
    const context = { folder, signal: options.signal };
    const cache = options.cache === undefined ? undefined : openStageCache(options.cache);
    const { path, source } = await locateModel(run, options.model, folder);
    const { task, input: reads, pooling, normalize, acceptKeys } = options;
    const prompts = options.prompts ?? (source && catalogueModelOf(source.name)?.prompts);
    const description = await describeModel(path, { task, input: reads, prompts, pooling, normalize, acceptKeys });
    const data = await readTaskData(description.task, options);
    const present = options.golden === undefined ? undefined : await presentAnswers(options.golden, description);
    const model = await run(readFolder, { path, description });
    await run(checkMemory, { graph: model.graph });
    const bits = maxSize === undefined ? { tableBits, weightBits } : ({ tableBits: 4, weightBits: 4 } as const);
    const shape = shapeOfConfig(model.config, { maxTokens: model.maxTokens, pairs: takesPairs(model.task) });
    const expected = await estimatedChoice(shape, bits, maxMemory);
    const { kept } = await run(estimate, { ...expected, targets, maxMemory, force: options.force ?? false });
    const golden =
      present &&
      (await run(checkGolden, {
        ...{ model, manifest: manifestOf(name, model, {}, {}), minimum: options.goldenMin },
        ...{ ...present, folder: typeof options.model === "string" ? options.model : name },
      }));
    const { graph, nodes, fused, excused } = await run(fuse, { graph: model.graph, complete: true });
    const modelHash =
      cache && contentKey("read", await modelKey(path), task, reads, prompts, pooling, normalize, model.acceptedKeys);
    const checked = await fromCache(run, cache, context, {
      ...{ stage: "check", label: "the fused graph" },
      key: async () => contentKey("checked", modelHash, data?.content),
      work: () => run(checkFusion, { model, graph, data }),
    });

    const kinds = kindsFor(targets.flatMap((target) => recipesFor(target, regionPrecision)));
    const texts = kinds.includes("statistics") ? calibration : calibration.filter((_, i) => i % OVERFLOW_EVERY === 0);
    const sequences = once(() => model.encode(inputsOf(model.task, texts, 2)));
    const observed = once(async () => {
      const found = await run(observe, { graph, batches: tokenBatches(graph, sequences()), kinds });
      assertVaries(checked.reference, found.statistics);
      return found;
    });
    // A model that is prepared although it does not fit stays whole.
    const edge = { weightBits, maxSize, maxMemory: kept === "none" ? WHOLE : maxMemory, pages };
    const input = {
      model,
      graph,
      checked,
      observed,
      data,
      tableBits,
      edge,
      frequent: once(() => byFrequency(model.encode(inputsOf(model.task, counted, 2)))),
      regionPrecision,
      minCosine,
      quantizers: new Map(),
      context,
    };
    const made: MadeTarget[] = [];
    for (const target of targets) {
      const found = await fromCache(run, cache, context, {
        ...{ stage: "measure", label: target },
        key: async () => {
          const recipes = recipesFor(target, regionPrecision, edge);
          const ofEdge = target === "edge" ? [edge, counted] : undefined;
          return contentKey("target", modelHash, data?.content, texts, recipes, tableBits, ofEdge, minCosine);
        },
        work: () => makeTarget(run, target, input),
      });
      made.push(found);
    }

    const artifactFolder = join(folder, "artifact");
    await assembleArtifact(artifactFolder, {
      ...{ name, model, draft: fast },
      packed: made,
      golden: goldenTextsOf(model, checked.reference, golden?.texts),
    });
    const artifact = await openFolder(artifactFolder);
    const { measurements } = await fromCache(run, cache, context, {
      ...{ stage: "time", label: "times of the CPU targets" },
      key: async () => contentKey("times", artifact.version, rounds),
      work: () => run(time, { artifact, rounds }),
    });
    await writeMeasurements(artifactFolder, measurements);
    const atEdge = await preparedEdge(artifactFolder, artifact.manifest, measurements);
    if (out !== undefined) await run(writeFolder, { out, folder: artifactFolder });

    const { manifest, version } = artifact;
    const passedOver = made.flatMap((target) => target.passedOver);
    const forecast = forecastOf(manifest, measurements);
    const report: PrepareReport = {
      ...{ source, manifest, version, measurements },
      reading: readingOf(manifest, await loadTokenizer(manifest, artifact.read)),
      golden: golden?.agreement,
      ...{ fusion: checked.parity, nodes, fused, excused },
      ...forecast,
      ...(atEdge && { edge: atEdge }),
      warnings: warningsOf({ model, manifest, excused, fit: forecast.fit, gaps: golden?.gaps }),
      ...{ passedOver, stages },
    };
    return out === undefined ? { ...report, artifact: await inMemory(artifactFolder) } : report;
  });
}

/** Maximum memory of a model that does not fit. */
const WHOLE = Number.MAX_SAFE_INTEGER;

const presentAnswers = async (file: string, { task, config }: ModelDescription) => ({
  file,
  lines: await readGolden(file, { task, vocabulary: config.vocabularySize }),
});

/** Reads an artifact folder into memory. */
async function inMemory(folder: string): Promise<PublishableArtifact> {
  const files = (await readdir(folder)).map(
    async (file) => [file, new Uint8Array(await readFile(join(folder, file)))] as const,
  );
  return openFiles(new Map(await Promise.all(files)));
}

/**
 * If only overflows are observed, every fourth calibration text is enough. These texts have the same activations in the same
 * channels as the others, and `overflowObserver` leaves a factor of four for larger activations.
 */
const OVERFLOW_EVERY = 4;

/** Maximum number of texts on which activations are observed. More take longer, and hardly change the scales. */
const MAX_OBSERVED = 1_000;

/** With `fast`, every eighth calibration text is used, and two rounds are timed. */
const [FAST_EVERY, FAST_ROUNDS] = [8, 2];

/** Returns the observations that recipes need: activation statistics for int8, and the nodes that overflow for fp16. */
function kindsFor(recipes: ReturnType<typeof recipesFor>): ("statistics" | "overflowing")[] {
  const precisions = recipes.flatMap((recipe) => recipe.precisions);
  const needsStatistics = precisions.some((precision) => precision !== "fp16");
  const needsOverflowing = precisions.includes("fp16");
  return [
    ...(needsStatistics ? (["statistics"] as const) : []),
    ...(needsOverflowing ? (["overflowing"] as const) : []),
  ];
}
