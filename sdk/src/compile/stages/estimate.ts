import { BertEdgeError } from "../../artifact/error.ts";
import type { TargetName } from "../../artifact/manifest.ts";
import type { EstimatedForm, NamedForm } from "../latency/edge-forms.ts";
import { bestForm } from "../latency/edge-forms.ts";
import { isolateMemory } from "../latency/platforms/platforms.ts";
import type { Stage } from "./stage.ts";

export interface EstimateInput {
  /** What the edge target would take. */
  readonly form: EstimatedForm;
  /** What the options of `prepare` would give. */
  readonly forms: readonly NamedForm[];
  readonly targets: readonly TargetName[];
  /** Maximum bytes of the edge's weights in memory, if the user gave one. */
  readonly maxMemory?: number | undefined;
  /** Whether to continue if the edge is the only target and does not fit. */
  readonly force: boolean;
}

/**
 * Says what the edge target will take, before the slow stages.
 *
 * @throws BertEdgeError `model_too_large` if the edge is the only target and does not fit into an isolate, or if its weights do not fit into
 *   the user's maximum memory
 */
export const estimate: Stage<EstimateInput, EstimatedForm> = {
  name: "estimate",
  describe: ({ form, targets }) => {
    const { pages, memoryBytes, fits, ms, coldStartMs } = form;
    const size = megabytes(weightsOf(form));
    if (!targets.includes("edge")) return `${size} of weights in int8`;
    if (!fits)
      return `edge, estimated: ${size} of weights, ${mebibytes(memoryBytes)} of memory: too large for a Worker`;
    const parts = [
      `${size}${pages ? `, ${megabytes(pages.bytes)} of it in pages` : ""}`,
      `${ms[128] < 10 ? ms[128].toFixed(1) : ms[128].toFixed(0)} ms for 128 tokens`,
      `${(coldStartMs / 1000).toFixed(1)} s cold`,
    ];
    return `edge, estimated: ${parts.join(", ")}`;
  },
  async run({ form, forms, targets, maxMemory, force }) {
    const isRefused = targets.every((target) => target === "edge") && !force && !form.fits;
    const cannotBeWritten = targets.includes("edge") && maxMemory !== undefined && form.kept === "none";
    if (!isRefused && !cannotBeWritten) return form;
    const better = bestForm(forms)?.options;
    const what =
      form.kept === "none"
        ? `its weights take ${megabytes(weightsOf(form))}, and ${maxMemory === undefined ? `an isolate of Workers has ${mebibytes(isolateMemory.value)} for everything` : `--max-memory allows ${megabytes(maxMemory)}`}. Even without most rows of the token embedding table they do not fit`
        : `with texts of ${form.longestText} tokens it would fill an isolate of Workers, which has ${mebibytes(isolateMemory.value)}`;
    throw new BertEdgeError("model_too_large", `The model is too large for the edge: ${what}. This is estimated.`, {
      hint: `${better ? `Give ${better}. Or prepare` : "Prepare"} it for a region with --targets regional-cpu, or take a smaller model: npx bert-edge models.${cannotBeWritten ? "" : " --force prepares it all the same."}`,
    });
  },
  report: ({ startBytes, memoryBytes, fits, kept, ms }) => ({ startBytes, memoryBytes, fits, kept, ms: ms[128] }),
};

/** Bytes of the model file and its pages. */
const weightsOf = ({ fileBytes, pages }: EstimatedForm): number => fileBytes + (pages?.bytes ?? 0);

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
