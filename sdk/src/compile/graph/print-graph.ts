import type { Attribute } from "./attribute.ts";
import type { Graph } from "./graph.ts";
import type { Node, Value } from "./node.ts";
import { elementCount, numbersOf, type Tensor } from "./tensor.ts";

/** Maximum number of elements to print. A larger constant is printed as its type and shape. */
const MAX_PRINTED = 4;

/**
 * Prints a graph as text, one node per line. Equal graphs give equal text.
 *
 * ```
 * encoder(input_ids: int64[batch, seq]) -> last_hidden_state = embedding: float32[batch, seq, 32]
 * embedding: float32[batch, seq, 32] = Gather(float32[100, 32], input_ids) {axis: 0}
 * ```
 */
export function printGraph(graph: Graph): string {
  const inputs = graph.inputs.map(typed).join(", ");
  const outputs = graph.outputs.map(({ name, value }) => `${name} = ${typed(value)}`).join(", ");
  return [`${graph.name}(${inputs}) -> ${outputs}`, ...graph.sorted().map(printNode), ""].join("\n");
}

function printNode({ domain, opType, inputs, outputs, attributes }: Node): string {
  const results = outputs.map((value) => (value ? typed(value) : "_")).join(", ");
  const operator = domain === "" ? opType : `${domain}.${opType}`;
  const settings = Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, attribute]) => `${name}: ${printAttribute(attribute)}`);
  const braces = settings.length > 0 ? ` {${settings.join(", ")}}` : "";
  return `${results} = ${operator}(${inputs.map(printInput).join(", ")})${braces}`;
}

function printInput(value: Value | undefined): string {
  if (!value) return "_";
  return value.constant ? printTensor(value.constant) : value.name;
}

const typed = ({ name, dtype, shape }: Value) => `${name}: ${dtype ?? "?"}${shape ? `[${shape.join(", ")}]` : ""}`;

function printTensor(tensor: Tensor): string {
  if (elementCount(tensor.shape) > MAX_PRINTED) return `${tensor.dtype}[${tensor.shape.join(", ")}]`;
  const numbers = numbersOf(tensor).map((value) => Number(value.toPrecision(7)));
  return tensor.shape.length === 0 ? `${numbers[0]}` : `[${numbers.join(", ")}]`;
}

function printAttribute(attribute: Attribute): string {
  switch (attribute.kind) {
    case "tensor":
      return printTensor(attribute.value);
    case "ints":
    case "floats":
      return `[${attribute.value.join(", ")}]`;
    case "other":
      return "…";
    default:
      return `${attribute.value}`;
  }
}
