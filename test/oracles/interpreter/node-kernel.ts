import type { Node } from "#sdk/compile/graph/node.ts";
import type { IntegerProduct } from "../reference/integer-product.ts";

/** A row-major tensor of one sequence. If the graph has a batch axis, that axis has size 1. */
export interface NodeTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | Int32Array;
}

export type KernelInputs = readonly (NodeTensor | undefined)[];

/** Prepares a node's constants once and returns a function that runs the node. */
export type NodeKernel = (
  node: Node,
  product: IntegerProduct,
) => (inputs: KernelInputs) => KernelOutputs | Promise<KernelOutputs>;

/** Outputs of a node by position; undefined for omitted outputs. */
export type KernelOutputs = readonly (NodeTensor | undefined)[];

/** Returns the float32 data of a required input. */
export const floatData = (input: NodeTensor | undefined): Float32Array => input?.data as Float32Array;
