import { type ShapeRule, singleOutput } from "../shape-rule.ts";

/** Shape rules for the edge engine's own operators. graph/operators.ts describes them. */
export const edgeRules: Readonly<Record<string, ShapeRule>> = {
  DynamicQuantizeMatMul: singleOutput(({ inputs: [x, weight] }) => {
    const outputs = weight?.shape?.[0];
    return {
      dtype: "float32",
      shape: outputs === undefined ? undefined : x?.shape && [...x.shape.slice(0, -1), outputs],
    };
  }),
  DynamicQuantizeAttention: singleOutput(({ inputs: [query] }) => ({ dtype: "float32", shape: query?.shape })),
  LookupLevels: singleOutput((node) => {
    const width = node.int("width");
    const ids = node.inputs[1]?.shape;
    return { dtype: "float32", shape: width === undefined ? undefined : ids && [...ids, width] };
  }),
};
