import type { Node, Value } from "../graph/node.ts";
import { isView } from "../graph/operators.ts";
import type { Tensor } from "../graph/tensor.ts";

/**
 * Returns the number of rows of the smallest table that an input indexes, directly or through casts and changes of
 * shape. The tables may be quantized.
 */
export function tableRows(input: Value): number | undefined {
  const rows: number[] = [];
  const stack: Value[] = [input];
  const seen = new Set<Node>();
  for (let value = stack.pop(); value; value = stack.pop()) {
    for (const user of value.users) {
      if (seen.has(user)) continue;
      seen.add(user);
      const table = tableIn(user);
      if (table?.shape.length === 2 && user.inputs[1] === value) {
        rows.push(table.shape[0] ?? 1);
      } else if (user.is("EmbedLayerNormalization", "com.microsoft")) {
        const position = user.inputs.indexOf(value);
        const shape = user.inputs[position === 0 ? 2 : position === 1 ? 4 : 3]?.shape;
        if (typeof shape?.[0] === "number") rows.push(shape[0]);
      } else if (isView(user) || /^(Cast|Where|Expand)$/.test(user.opType)) stack.push(user.output);
    }
  }
  return rows.length > 0 ? Math.min(...rows) : undefined;
}

/** Returns the constant that a Gather reads rows from, directly or after it is dequantized or cast. */
function tableIn(node: Node): Tensor | undefined {
  if (!node.is("Gather")) return undefined;
  let [table] = node.inputs;
  while (table?.producer && /^(DequantizeLinear|Cast|Identity)$/.test(table.producer.opType))
    [table] = table.producer.inputs;
  return table?.constant;
}
