import type { IntegerProduct } from "../../../runtime/engine/wasm/reference/integer-product.ts";
import type { Node } from "../../graph/node.ts";

/** What flows between kernels: row-major, of one sequence, with a first dimension of 1 where the graph has a batch. */
export interface NodeTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | Int32Array;
}

export type KernelInputs = readonly (NodeTensor | undefined)[];

/** Prepares a node once, as far as its constants go, for any number of runs. */
export type NodeKernel = (
  node: Node,
  product: IntegerProduct,
) => (inputs: KernelInputs) => KernelOutputs | Promise<KernelOutputs>;

/** A node's results by position; undefined for those that it does not have. */
export type KernelOutputs = readonly (NodeTensor | undefined)[];

/** The float32 numbers of an input that must be there. */
export const floatData = (input: NodeTensor | undefined): Float32Array => input?.data as Float32Array;
