import { totalmem } from "node:os";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Graph } from "../graph/graph.ts";
import { byteLength } from "../graph/tensor.ts";
import type { Stage } from "./stage.ts";

/** Memory of a machine or a container, in bytes. */
export interface MachineMemory {
  readonly total: number;
  /** Memory that is free, or that the system can free. */
  readonly available: number;
}

export interface MemoryNeed extends MachineMemory {
  /** Peak memory of all processes of `prepare` together, in bytes. */
  readonly needed: number;
}

/**
 * Peak memory of `prepare` for all targets: `BASE_BYTES` plus `BYTES_PER_WEIGHT_BYTE` times the size of the float32 weights.
 * Measured (sum of the proportional set sizes of all processes): 657 MiB for 33 MiB of weights, 887 for 87, 1385 for 415, 3813
 * for 1274.
 */
const BASE_BYTES = 700 * 2 ** 20;
const BYTES_PER_WEIGHT_BYTE = 2.45;

/**
 * Predicts how much memory `prepare` needs, before the stages that need much memory.
 *
 * @throws BertEdgeError `machine_too_small` when the machine does not have this much memory at all
 */
export const checkMemory: Stage<{ readonly graph: Graph; readonly memory?: MachineMemory }, MemoryNeed> = {
  name: "read",
  describe: ({ graph, memory = thisMachine() }) =>
    `needs up to ${gigabytes(neededBytes(graph))} of memory; ${gigabytes(memory.available)} are free`,
  async run({ graph, memory = thisMachine() }) {
    const needed = neededBytes(graph);
    if (needed <= memory.total) return { needed, ...memory };
    throw new BertEdgeError(
      "machine_too_small",
      `Preparing this model needs up to ${gigabytes(needed)} of memory, but the machine has ${gigabytes(memory.total)}.`,
      { hint: "Prepare it on a machine with more memory, or raise the container's limit. Serving needs much less." },
    );
  },
  report: ({ needed, available }) => ({ needed, available }),
};

const neededBytes = (graph: Graph): number =>
  BASE_BYTES +
  BYTES_PER_WEIGHT_BYTE *
    [...graph.constants()].reduce((sum, { constant }) => sum + (constant ? byteLength(constant) : 0), 0);

/** Returns the memory of the machine, or of the container if that has a limit. */
const thisMachine = (): MachineMemory => ({
  total: Math.min(totalmem(), process.constrainedMemory()),
  available: process.availableMemory(),
});

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
