import { DRAFT } from "../../artifact/draft.ts";
import type { Manifest, Target, TargetName } from "../../artifact/manifest.ts";
import { protocolOf } from "../../runtime/tasks/late-interaction.ts";
import type { GoldenGaps } from "../accuracy/golden/golden-remarks.ts";
import { maxTokensOf } from "../checkpoint/encoder-config.ts";
import type { ExcusedParts } from "../fusions/unfused-parts.ts";
import type { FitTable } from "../latency/platforms/forecast.ts";
import { headsAmong, tasksOf } from "../model/task-heads.ts";
import type { TextModel } from "../model/text-model.ts";

/** A warning about a prepared artifact. */
export interface PrepareWarning {
  readonly code:
    | "draft"
    | "assumed"
    | "keys_unknown"
    | "keys_accepted"
    | "tensors_unused"
    | "length_limited"
    | "part_excused"
    | "layers_kept"
    | "length_inaccurate"
    | "tokenizer_json"
    | "memory_tight"
    | "edge_too_large"
    | "golden_length"
    | "golden_prompts";
  readonly message: string;
}

interface WarningInput {
  readonly model: Pick<TextModel, "config" | "maxTokens" | "assumed" | "unknown" | "unused">;
  readonly manifest: Manifest;
  readonly excused: readonly ExcusedParts[];
  readonly fit: FitTable;
  /** Remarks on prompts and lengths that the user's golden file does not cover; undefined without such a file. */
  readonly gaps?: GoldenGaps | undefined;
}

/** Share of an isolate's memory from which on `memory_tight` warns: little is left for the JavaScript heap, which is not measured. */
const TIGHT = 0.85;

/** Maximum number of tensors that a warning names. */
const LISTED = 12;

/** Minimum mean cosine with float32 for texts of each length. Below it, `length_inaccurate` warns. */
const ACCURATE = 0.99;

/** Says why no Worker can run the edge target; undefined if one can, or if there is no edge target. */
export function edgeMisfit({ platforms }: FitTable): string | undefined {
  const workers = platforms.filter(({ target }) => target === "edge");
  const [worst] = workers
    .flatMap(({ limits }) => limits)
    .filter(({ limit, used, allowed }) => limit === "memory" && used > allowed);
  if (!worst || workers.some(({ fits }) => fits)) return undefined;
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return `No Worker can run the edge target: it takes ${mebibytes(worst.used)} of memory, and an isolate has ${mebibytes(worst.allowed)}.`;
}

/** Returns the warnings about an artifact: what was assumed, cut or left out, and which limits are close or exceeded. */
export function warningsOf({ model, manifest, excused, fit, gaps = {} }: WarningInput): PrepareWarning[] {
  const warnings: PrepareWarning[] = [];
  const warn = (code: PrepareWarning["code"], message: string) => void warnings.push({ code, message });
  const { config, maxTokens, assumed, unknown, unused } = model;
  if (manifest.draft) warn("draft", DRAFT);
  for (const sentence of assumed) warn("assumed", sentence);
  for (const { file, keys } of unknown) {
    warn("keys_unknown", `${file} has keys that bert-edge does not know, and that nothing reads: ${keys.join(", ")}.`);
  }
  if (manifest.acceptedKeys) {
    warn(
      "keys_accepted",
      `bert-edge does not know these keys, which were accepted: ${manifest.acceptedKeys.join(", ")}. Results are wrong if the model depends on them.`,
    );
  }
  if (unused.length > 0) {
    const tasks = tasksOf(headsAmong(unused, config.modelType));
    const use = tasks.length > 0 ? ` --task ${tasks.join(" or ")} uses them.` : "";
    const more = unused.length > LISTED ? ` and ${unused.length - LISTED} more` : "";
    warn(
      "tensors_unused",
      `The weights have tensors that are not used: ${unused.slice(0, LISTED).join(", ")}${more}.${use}`,
    );
  }
  const positions = maxTokensOf(config);
  if (maxTokens < positions) {
    const protocol = protocolOf(manifest);
    const cut = protocol
      ? `Queries are cut at ${protocol.query.length} tokens, and documents at ${protocol.document.length}`
      : `Texts are cut at ${maxTokens} tokens`;
    warn("length_limited", `${cut}, but the model has ${positions} positions.`);
  }
  if (gaps.length !== undefined) warn("golden_length", gaps.length);
  if (gaps.prompts !== undefined) warn("golden_prompts", gaps.prompts);
  for (const { pattern, nodes, why } of excused) {
    warn("part_excused", `${nodes.length} × ${pattern} is not fused, first at ${nodes[0]}: ${why}.`);
  }
  for (const [name, { kept = [] }] of Object.entries(manifest.targets) as [TargetName, Target][]) {
    if (kept.length > 0) {
      warn("layers_kept", `${name}: ${kept.length} layers stay in a higher precision: ${kept.join(", ")}.`);
    }
  }
  for (const [name, { parity }] of Object.entries(manifest.targets) as [TargetName, Target][]) {
    const [worst] = (parity.lengths ?? []).toSorted((a, b) => a.meanCosine - b.meanCosine);
    if (worst && worst.meanCosine < ACCURATE) {
      warn(
        "length_inaccurate",
        `${name}: texts of ${worst.tokens} tokens have a mean cosine of ${worst.meanCosine.toFixed(4)} with float32. Send shorter texts, or choose another precision.`,
      );
    }
  }
  if (manifest.tokenizer.kind === "json") {
    warn(
      "tokenizer_json",
      "This tokenizer has no packed form: tokenizer.json is shipped instead (slower cold start, up to 143 MB of memory, no places of tokens). Characters newer than Unicode 9 can get other ids than in Python.",
    );
  }
  const edge = fit.platforms.find(({ target }) => target === "edge");
  const memory = edge?.limits.find(({ limit }) => limit === "memory");
  const misfit = edgeMisfit(fit);
  if (misfit !== undefined) warn("edge_too_large", misfit);
  if (memory && memory.used <= memory.allowed && memory.used >= TIGHT * memory.allowed) {
    warn(
      "memory_tight",
      `edge takes ${Math.round((100 * memory.used) / memory.allowed)} % of an isolate's memory, and the JavaScript heap is not counted.`,
    );
  }
  return warnings;
}
