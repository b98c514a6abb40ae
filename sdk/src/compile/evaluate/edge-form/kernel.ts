import type { IntegerProduct } from "../../../runtime/engine/wasm/reference/integer-product.ts";
import type { Node } from "../../graph/node.ts";

/** What flows between kernels: row-major, of one sequence, with a first dimension of 1 where the graph has a batch. */
export interface Numbers {
  readonly shape: readonly number[];
  readonly data: Float32Array | Int32Array;
}

export type Inputs = readonly (Numbers | undefined)[];

/** Prepares a node once, as far as its constants go, for any number of runs. */
export type Kernel = (node: Node, product: IntegerProduct) => (inputs: Inputs) => Outputs | Promise<Outputs>;

/** A node's results by position; undefined for those that it does not have. */
export type Outputs = readonly (Numbers | undefined)[];

/** The float32 numbers of an input that must be there. */
export const floats = (input: Numbers | undefined): Float32Array => input?.data as Float32Array;
