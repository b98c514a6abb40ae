import type { Manifest, Target, TargetName } from "../artifact/manifest.ts";
import { namesOfPrompts } from "../compile/accuracy/golden/names-of-prompts.ts";
import type { PrepareReport } from "../compile/commands/prepare.ts";
import type { LimitUse, PlatformFit } from "../compile/latency/platforms/fit.ts";
import type { ModelReading } from "../runtime/reading.ts";
import { roomForRequests } from "../runtime/request-memory.ts";
import { acceptedLine } from "./options.ts";
import { table } from "./output.ts";
import { COLUMNS, wrapped } from "./screen/on-screen.ts";

/** Lines of a small terminal. */
const MAX_LINES = 40;

/** Describes a prepared model on one screen. */
export function prepareReport(report: PrepareReport): string {
  const sections = [summary, accuracy, fit, latency, accuracyByLength, origin].flatMap((describe) => {
    const lines = describe(report);
    return lines.length > 0 ? [lines.join("\n")] : [];
  });
  const lines = sections.join("\n\n").split("\n");
  return [...lines, ...warningLines(report, MAX_LINES - lines.length - 1)].join("\n");
}

function summary({ manifest, version, reading, golden }: PrepareReport): string[] {
  return [
    `${manifest.name}@${version}: ${computes(manifest)}, ${manifest.maxTokens} tokens`,
    ...(golden
      ? [
          `${golden.file}: ${golden.lines} ${golden.lines === 1 ? "line agrees" : "lines agree"} with the float32 model, at worst ${golden.worst.agreement.toFixed(6)} (line ${golden.worst.line})`,
        ]
      : []),
    `reads: ${sentenceOf(reading)}`,
    ...acceptedLine(reading.accepted_keys ?? []),
  ].flatMap((line) => wrapped(line, COLUMNS, 2));
}

/** Describes what the artifact was made from, and which operators were fused. */
function origin({ source, nodes, fused, fusion }: PrepareReport): string[] {
  const offline = source?.isOffline ? " (the Hub could not be asked: this is the last known commit)" : "";
  const counts = Object.entries(fused).map(([name, count]) => `${count} ${name}`);
  return [
    ...(source ? wrapped(`downloaded: ${source.name}@${source.commit}${offline}`, COLUMNS, 3) : []),
    ...wrapped(
      `fused: ${nodes.before} → ${nodes.after} nodes (${counts.join(", ")}), cosine ${fusion.minCosine.toFixed(6)} with the original`,
      COLUMNS,
      3,
    ),
  ];
}

/** Describes how a model reads texts, as the folder's files say or as was assumed. */
function sentenceOf({
  prompts = {},
  default_prompt,
  pools_prompt,
  accepted_keys: accepted,
  ...reading
}: ModelReading): string {
  const names = namesOfPrompts(prompts);
  const parts = [
    reading.lower_case ? "lower case" : "capitals and small letters",
    `texts cut at the ${reading.truncation_side}`,
    reading.token_types === undefined
      ? []
      : [reading.token_types ? "token types of pairs" : "pairs without token types"],
    reading.normalized === undefined ? [] : [reading.normalized ? "normalized" : "not normalized"],
    reading.similarity === undefined ? [] : [`similarity ${reading.similarity}`],
    reading.activation === undefined ? [] : [`activation ${reading.activation}`],
    reading.score_label === undefined ? [] : [`ranks by the label ${reading.score_label}`],
    names.length === 0 ? [] : [`prompts ${names.join(", ")}${pools_prompt === false ? ", not pooled" : ""}`],
    default_prompt === undefined ? [] : [`default prompt ${default_prompt}`],
  ];
  return parts.flat().join(" · ");
}

/** Maximum number of labels that are listed. */
const LISTED_LABELS = 8;

function computes(manifest: Manifest): string {
  switch (manifest.task) {
    case "embed":
      return `${manifest.dimensions} dimensions, ${manifest.pooling} pooling`;
    case "token-vectors":
      return `a vector of ${manifest.dimensions} dimensions for each token`;
    case "classify":
      return `classifier of ${manifest.input === "pair" ? "pairs of texts" : "texts"}: ${listed(manifest.labels)}`;
    case "tag":
      return `classifier of tokens: ${listed(manifest.labels)}`;
    case "answer":
      return "answers questions from a text";
    case "fill-mask":
      return "predicts masked tokens";
    case "sparse":
      return `sparse vectors of ${manifest.vocabulary} dimensions`;
  }
}

const listed = (labels: readonly string[]): string =>
  labels.length > LISTED_LABELS
    ? `${labels.slice(0, LISTED_LABELS).join(", ")} and ${labels.length - LISTED_LABELS} more`
    : labels.join(", ");

const targetsOf = ({ manifest }: PrepareReport) => Object.entries(manifest.targets) as [TargetName, Target][];

function accuracy(report: PrepareReport): string[] {
  const rows = targetsOf(report).map(([name, { engine, precision, model, parity }]) => [
    name,
    engine,
    precision,
    `${((report.manifest.files[model]?.size ?? 0) / 1e6).toFixed(1)} MB`,
    parity.meanCosine.toFixed(5),
    parity.minCosine.toFixed(5),
    ...(parity.top1 === undefined ? [] : [`${(100 * parity.top1).toFixed(1)} %`]),
  ]);
  const [first] = targetsOf(report);
  const labels = first?.[1].parity.top1 === undefined ? [] : ["labels"];
  return [
    table(["target", "engine", "precision", "size", "cosine", "worst", ...labels], rows),
    ...fourBitLines(report),
    ...taskLine(report),
    ...edgeLines(report),
  ];
}

/** Says which weights have 4 bits, and when they are expanded. */
const fourBitLines = (report: PrepareReport): string[] =>
  targetsOf(report).flatMap(([name, { weights }]) => {
    if (!weights) return [];
    const { layers, layersInFourBits, tableBits, expanded } = weights;
    const when =
      expanded === "once" ? "once, when the model is loaded" : "in each call, because they do not fit otherwise";
    const ofLayers = `${layersInFourBits} of ${layers} layers in 4 bits, expanded ${when}; `;
    const line = `${name}: ${layersInFourBits > 0 ? ofLayers : ""}table in ${tableBits} bits`;
    return wrapped(line, COLUMNS, 2);
  });

/** Says what the edge target takes: bytes before the first answer, cold start, memory and pages. CPU times are in a table. */
function edgeLines({ edge }: PrepareReport): string[] {
  if (!edge) return [];
  const { startBytes, coldStartMs, memoryBytes, pages } = edge;
  const parts = [
    `${(startBytes / 1e6).toFixed(1)} MB before the first answer: ${(coldStartMs / 1000).toFixed(1)} s from a store of 20 ms and 50 MB/s (estimated)`,
    `at most ${mebibytes(memoryBytes)} MiB of memory`,
    ...(pages ? [`${pages.count} pages of ${(pages.bytes / 1e6).toFixed(1)} MB together`] : []),
  ];
  return wrapped(`edge: ${parts.join("; ")}`, COLUMNS, 2);
}

/** Describes the scores of the targets on the user's data, in a line. */
function taskLine(report: PrepareReport): string[] {
  const scored = targetsOf(report).flatMap(([name, { task }]) => (task ? [{ name, ...task }] : []));
  const [first] = scored;
  if (!first) return [];
  const scores = scored.map(({ name, score }) => `${name} ${score.toFixed(2)}`);
  return wrapped(`${first.metric} on your data: float32 ${first.fp32.toFixed(2)}, ${scores.join(", ")}`, COLUMNS, 2);
}

/** Makes a table of the cosines of encoders by the lengths of texts. */
function accuracyByLength(report: PrepareReport): string[] {
  const targets = targetsOf(report).filter(([, { parity }]) => parity.lengths);
  const [first] = targets;
  if (!first) return [];
  const headings = (first[1].parity.lengths ?? []).map(({ tokens }) => `${tokens} tokens`);
  const rows = targets.map(([name, { parity }]) => [
    name,
    ...(parity.lengths ?? []).map(({ meanCosine }) => meanCosine.toFixed(5)),
  ]);
  return [table(["cosine of texts of", ...headings], rows)];
}

function latency(report: PrepareReport): string[] {
  const { cpu, tokens, ms } = report.latency;
  const rows = targetsOf(report).map(([name]) => [
    name,
    ...(ms[name]?.map((time) => `${digits(time)} ms`) ?? ["not timed"]),
  ]);
  return [
    table(["predicted for one text", ...tokens.map((length) => `${length} tokens`)], rows),
    ...wrapped(`Timed on one thread of this machine: ${cpu}.`, COLUMNS, 1),
  ];
}

function fit({ fit: { tokens, platforms } }: PrepareReport): string[] {
  const rows = platforms.map((each) => [each.name, each.fits ? "✓" : "✗", described(each.binding), cost(each)]);
  const atEdge = platforms.find(({ target }) => target === "edge");
  const memory = atEdge?.limits.find(({ limit }) => limit === "memory")?.used ?? 0;
  const room = roomForRequests(memory);
  return [
    table([`${tokens} tokens`, "fits", "binding limit", "a million requests"], rows),
    ...(room < roomForRequests(0) ? [`At the edge, ${mebibytes(room)} MiB are left for requests in flight.`] : []),
    `Limits and list prices of ${months(platforms)}, without free allowances.`,
  ];
}

/** Returns the months in which limits and prices were last compared with their sources: "2026-05 to 2026-09". */
function months(platforms: readonly PlatformFit[]): string {
  const all = platforms.flatMap(({ sources }) => sources.map(({ asOf }) => asOf)).sort();
  return all[0] === all.at(-1) ? `${all[0]}` : `${all[0]} to ${all.at(-1)}`;
}

function described({ limit, used, allowed }: LimitUse): string {
  if (limit === "time") return `time ${digits(used)} of ${allowed} ms`;
  return `${limit} ${mebibytes(used)} of ${mebibytes(allowed)} MiB`;
}

/** Describes the cost of a million requests, or the cost of an hour if the time of a request is not known. */
function cost({ fits, requestsPerDay, costPerMillion, costPerHour }: PlatformFit): string {
  if (!fits) return "";
  if (requestsPerDay !== undefined) return `$0, ${requestsPerDay / 1000}k a day`;
  if (costPerMillion === undefined) return `$${costPerHour.toFixed(2)} an hour`;
  return `$${costPerMillion.toFixed(2)}`;
}

/** Returns the warnings. If they take more than `lines` lines, the last line counts those that are left out. */
function warningLines(report: PrepareReport, lines: number): string[] {
  const messages = [...passedOver(report), ...report.warnings.map(({ message }) => message)];
  const blocks = messages.map((message) => wrapped(`! ${message}`, COLUMNS, 3));
  const shown: string[] = [];
  for (const [at, block] of blocks.entries()) {
    const isLast = at === blocks.length - 1;
    if (shown.length + block.length + (isLast ? 0 : 1) > lines) {
      return ["", ...shown, `! ${blocks.length - at} more: see --json`];
    }
    shown.push(...block);
  }
  return shown.length > 0 ? ["", ...shown] : [];
}

/**
 * Returns the command that tries the artifact in a folder: `dev` in a project, else `embed`. No line if there is none: `dev` needs a
 * target for the edge, and `embed` a model that embeds texts.
 */
export function nextStep(
  { manifest }: PrepareReport,
  out: string,
  { isInProject }: { isInProject: boolean },
): string[] {
  const path = /\s/.test(out) ? JSON.stringify(out) : out;
  if (isInProject && manifest.targets.edge) return [`Next: npx bert-edge dev ${path}`];
  return manifest.task === "embed" ? [`Next: echo "to be or not to be" | npx bert-edge embed ${path}`] : [];
}

/** Formats a number with three digits, and at most two after the point. */
const digits = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

const mebibytes = (bytes: number): string => String(Number(digits(bytes / 2 ** 20)));

/** Returns a note for each engine that was passed over: why it is not used, and which function to deploy instead. */
export const passedOver = ({ manifest: { targets }, passedOver: engines }: PrepareReport): string[] =>
  engines.map(({ target, engine, why }) => {
    const taken = targets[target]?.engine;
    return `${target} uses ${taken} instead of ${engine}: ${why}\n  Deploy functions/${target}-${taken}.ts for this target. README.md of created projects contains this file.`;
  });
