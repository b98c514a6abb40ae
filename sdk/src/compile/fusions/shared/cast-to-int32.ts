import { int } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import type { Rewrite } from "../../rewrite/rule.ts";

/** Casts token ids or a mask to int32, the type that fused operators require. */
export const castToInt32 = ({ add }: Rewrite, value: Value): Value =>
  value.dtype === "int32"
    ? value
    : add("Cast", [value], { attributes: { to: int(dataTypes.int32) }, name: `${value.name}/int32` }).output;
