import type { Attribute } from "../graph/node.ts";
import { float32Scalar, type Tensor, tensor } from "../graph/tensor.ts";
import type { AttributeProto, NodeProto } from "../proto/onnx-messages.ts";
import { tensorOf } from "./tensor-proto.ts";

/** Numbers of AttributeProto.AttributeType in onnx.proto3. */
export const attributeTypes = { float: 1, int: 2, string: 3, tensor: 4, floats: 6, ints: 7 } as const;

export function attributesOf({ attribute }: NodeProto): Record<string, Attribute> {
  return Object.fromEntries(attribute.map((proto) => [proto.name ?? "", attributeOf(proto)]));
}

function attributeOf(proto: AttributeProto): Attribute {
  const other: Attribute = { kind: "other", value: proto };
  if (proto.refAttrName) return other;
  switch (proto.type) {
    case attributeTypes.float:
      return { kind: "float", value: proto.f ?? 0 };
    case attributeTypes.int:
      return isSafe(proto.i ?? 0n) ? { kind: "int", value: Number(proto.i ?? 0n) } : other;
    case attributeTypes.string: {
      const value = textOf(proto.s);
      return value === undefined ? other : { kind: "string", value };
    }
    case attributeTypes.floats:
      return { kind: "floats", value: proto.floats };
    case attributeTypes.ints:
      return proto.ints.every(isSafe) ? { kind: "ints", value: proto.ints.map(Number) } : other;
    case attributeTypes.tensor: {
      const value = proto.t && tensorOf(proto.t);
      return value ? { kind: "tensor", value } : other;
    }
    default:
      return other;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. Returns undefined for invalid UTF-8, because some operators keep other data in strings. */
function textOf(bytes: Uint8Array<ArrayBuffer> | undefined): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the value of a Constant node. Returns undefined for other nodes, strings and sparse tensors. */
export function constantOf(node: NodeProto): Tensor | undefined {
  const [attribute] = node.attribute;
  if (node.opType !== "Constant" || !["", "ai.onnx"].includes(node.domain ?? "")) return undefined;
  if (!attribute || attribute.refAttrName) return undefined;
  switch (attribute.name) {
    case "value":
      return attribute.t && tensorOf(attribute.t);
    case "value_float":
      return float32Scalar(attribute.f ?? 0);
    case "value_floats":
      return tensor("float32", [attribute.floats.length], Float32Array.from(attribute.floats));
    case "value_int":
      return tensor("int64", [], BigInt64Array.of(attribute.i ?? 0n));
    case "value_ints":
      return tensor("int64", [attribute.ints.length], BigInt64Array.from(attribute.ints));
    default:
      return undefined;
  }
}

const isSafe = (value: bigint) => value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
