import { type WeightGroup, weightBytes, weightGroups } from "../../runtime/engine/wasm/ops/linear.ts";
import { levelRowBytes } from "../../runtime/engine/wasm/ops/lookup.ts";
import type { EdgeForms, EdgeQuantizers } from "./precisions.ts";

/** Bits of a layer's weights: 8 bits hold a weight of 7 bits, and 4 bits are in groups of 16 or 32. */
type Form = 8 | WeightGroup;

/** Losses of a model in which one part has 4 bits and all others have 8: 1 − mean cosine. */
export interface PartErrors {
  /** The loss by the name of the layer, in groups of 16. */
  readonly layers: ReadonlyMap<string, number>;
  /** The loss with the token embedding table in 4 bits. */
  readonly table: number;
}

/**
 * Error of groups of 32 weights, of which groups of 16 have 1. Measured for the layers of all-MiniLM-L6-v2: 1.36 to 1.43 times the
 * squared error of a layer's outputs.
 */
const ERROR_OF_32 = 1.4;

const errorOf = { 8: 0, 16: 1, 32: ERROR_OF_32 } as const;

/** A step to a larger form of one part. */
interface Growth {
  readonly bytes: number;
  readonly error: number;
  /** Applies the step, and returns the next one of the same part. */
  readonly take: () => Growth | undefined;
}

type Layers = EdgeQuantizers["layers"];

/** Returns the forms with the fewest bytes. */
export const smallestForms = (layers: Layers): EdgeForms => ({
  tableBits: 4,
  groups: new Map(layers.map((layer) => [layer.name, formsOf(layer)[0] as WeightGroup])),
});

/** Forms of a layer, the smallest first. Groups divide the number of inputs. */
const formsOf = ({ weight }: Layers[number]): Form[] => [
  ...weightGroups.filter((group) => (weight.constant.shape[0] ?? 0) % group === 0).toReversed(),
  8,
];

/** Bytes of the weights of a layer in the model file. */
function layerBytes({ weight }: Layers[number], form: Form): number {
  const [inputs = 0, outputs = 0] = weight.constant.shape;
  return weightBytes(inputs, outputs, form === 8 ? undefined : form);
}

/** Bytes by which the forms shorten a model file whose parts have 8 bits. */
export function savedBytes(
  { layers, tableElements }: Pick<EdgeQuantizers, "layers" | "tableElements">,
  forms: EdgeForms,
): number {
  const ofLayers = layers.map((layer) => layerBytes(layer, 8) - layerBytes(layer, forms.groups.get(layer.name) ?? 8));
  return ofLayers.reduce((sum, bytes) => sum + bytes, forms.tableBits === 4 ? tableSavings(tableElements) : 0);
}

const tableSavings = (elements: number): number => elements - levelRowBytes(elements);

/**
 * Chooses the form of each layer and of the table: begins with the smallest, and enlarges the part that loses the least bytes for the
 * error that this removes, as long as the file stays within `room` bytes more than the smallest. Errors of different parts add up:
 * with all-MiniLM-L6-v2, 24 layers alone lose 0.0069 together, and all at once 0.0068.
 */
export function formsWithin(
  quantizers: Pick<EdgeQuantizers, "layers" | "tableElements">,
  errors: PartErrors,
  room: number,
): EdgeForms {
  const { layers, tableElements } = quantizers;
  const smallest = smallestForms(layers);
  const groups = new Map(smallest.groups);
  let tableBits: 8 | 4 = 4;
  const growthOf = (layer: Layers[number], [form, larger, ...rest]: Form[]): Growth | undefined =>
    form &&
    larger && {
      bytes: layerBytes(layer, larger) - layerBytes(layer, form),
      error: (errorOf[form] - errorOf[larger]) * Math.max(errors.layers.get(layer.name) ?? 0, 0),
      take() {
        if (larger === 8) groups.delete(layer.name);
        else groups.set(layer.name, larger);
        return growthOf(layer, [larger, ...rest]);
      },
    };
  const growths = layers.flatMap((layer) => growthOf(layer, formsOf(layer)) ?? []);
  growths.push({
    bytes: tableSavings(tableElements),
    error: Math.max(errors.table, 0),
    take() {
      tableBits = 8;
      return undefined;
    },
  });
  let left = room;
  for (;;) {
    const possible = growths.filter(({ bytes }) => bytes <= left);
    if (possible.length === 0) return { tableBits, groups };
    const best = possible.reduce((a, b) => (b.error / b.bytes > a.error / a.bytes ? b : a));
    left -= best.bytes;
    const next = best.take();
    growths.splice(growths.indexOf(best), 1, ...(next ? [next] : []));
  }
}
