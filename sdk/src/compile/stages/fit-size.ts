import { BertEdgeError } from "../../artifact/error.ts";
import type { Measures } from "../accuracy/choose-precision.ts";
import type { Graph } from "../graph/graph.ts";
import { formsWithin, savedBytes, smallestForms } from "../quantize/edge-forms.ts";
import { allInGroups, type EdgeForms, type EdgeQuantizers } from "../quantize/precisions.ts";
import { throwIfAborted } from "../subprocess/aborted.ts";
import type { Stage } from "./stage.ts";

interface FitSizeInput {
  readonly quantizers: EdgeQuantizers;
  /** Maximum bytes of the model file. */
  readonly maxSize: number;
  readonly parity: Measures["parity"];
  /** Returns the bytes of a graph's model file. */
  readonly sizeOf: (graph: Graph) => Promise<number>;
}

/** Bytes that a model file may be larger than computed for each layer: its step names the form, and its weights fill a cache line. */
const MARGIN = 128;

const EIGHT_BITS: EdgeForms = { tableBits: 8, groups: new Map() };

/**
 * Chooses the bits of weights and of the token embedding table, so that the edge's model file has at most `maxSize` bytes and loses as
 * little accuracy as possible. Measures what each part loses in 4 bits.
 *
 * @throws BertEdgeError `model_too_large` if even the smallest forms are too large
 */
export const fitSize: Stage<FitSizeInput, EdgeForms> = {
  name: "fit",
  describe: ({ maxSize }) => `choose bits for at most ${megabytes(maxSize)}`,
  async run({ quantizers, maxSize, parity, sizeOf }, { progress, signal }) {
    const { layers, tables, quantizer } = quantizers;
    const whole = await quantizer(EIGHT_BITS)();
    const size = await sizeOf(whole);
    if (size <= maxSize) return EIGHT_BITS;
    const smallest = size + MARGIN * layers.length - savedBytes(quantizers, smallestForms(layers));
    if (smallest > maxSize) {
      throw new BertEdgeError(
        "model_too_large",
        `The edge's model file cannot be made smaller than ${megabytes(smallest)}, and --max-size allows ${megabytes(maxSize)}.`,
        {
          hint: `Give at least --max-size ${megabytes(smallest, Math.ceil).replace(" ", "")}, or take a smaller model: npx bert-edge models.`,
        },
      );
    }
    const { meanCosine } = await parity(whole);
    const all = [...layers.map(({ name }) => name), ...tables];
    const small = quantizer({ tableBits: 4, groups: allInGroups(layers, 16) });
    const errors = new Map<string, number>();
    /** Measures a part in 4 bits, and all others in 8 bits. */
    const lossOf = async (names: readonly string[]) => {
      throwIfAborted(signal);
      const graph = await small(new Set(all.filter((name) => !names.includes(name))), { signal });
      return meanCosine - (await parity(graph)).meanCosine;
    };
    for (const { name } of layers) {
      progress("measure each layer in 4 bits", errors.size / (layers.length + 1));
      errors.set(name, await lossOf([name]));
    }
    return formsWithin(quantizers, { layers: errors, table: await lossOf(tables) }, maxSize - smallest);
  },
  report: ({ tableBits, groups }) => ({
    tableBits,
    groupsOf16: [...groups.values()].filter((group) => group === 16).length,
    groupsOf32: [...groups.values()].filter((group) => group === 32).length,
  }),
};

const megabytes = (bytes: number, round = (n: number) => Math.round(n)): string => `${round(bytes / 1e5) / 10} MB`;
