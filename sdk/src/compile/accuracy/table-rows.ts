import type { Node, Value } from "../graph/node.ts";
import { isView } from "../graph/operators.ts";

/**
 * Returns the number of rows of the smallest table that an input indexes, directly or through casts and changes of
 * shape.
 */
export function tableRows(input: Value): number | undefined {
  const rows: number[] = [];
  const stack: Value[] = [input];
  const seen = new Set<Node>();
  for (let value = stack.pop(); value; value = stack.pop()) {
    for (const user of value.users) {
      if (seen.has(user)) continue;
      seen.add(user);
      const [table] = user.inputs;
      if (user.is("Gather") && table?.constant && table.constant.shape.length === 2 && user.inputs[1] === value) {
        rows.push(table.constant.shape[0] ?? 1);
      } else if (user.is("EmbedLayerNormalization", "com.microsoft")) {
        const position = user.inputs.indexOf(value);
        const shape = user.inputs[position === 0 ? 2 : position === 1 ? 4 : 3]?.shape;
        if (typeof shape?.[0] === "number") rows.push(shape[0]);
      } else if (isView(user) || /^(Cast|Where|Expand)$/.test(user.opType)) stack.push(user.output);
    }
  }
  return rows.length > 0 ? Math.min(...rows) : undefined;
}
