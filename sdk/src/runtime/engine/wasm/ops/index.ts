import { shown } from "../../../../artifact/shown.ts";
import { type AttentionStep, attention } from "./attention.ts";
import { type ActivationStep, type AddStep, activation, add, type MultiplyStep, multiply } from "./elementwise.ts";
import { type LinearF32Step, type LinearInt8Step, linearF32, linearInt8 } from "./linear.ts";
import { type LookupStep, lookup } from "./lookup.ts";
import { type LayerNormStep, layerNorm, type RmsNormStep, rmsNorm } from "./normalization.ts";
import { type Fields, type OperandReader, ProgramFault } from "./operand-reader.ts";
import type { CheckedOperation, Operation, Sizes } from "./operation.ts";
import { type ClsStep, cls, type MeanStep, mean } from "./pooling.ts";
import { type QuantizeStep, quantizeRows } from "./quantize.ts";
import { type RotateStep, rotate } from "./rotate.ts";

/** A step of a program. Operands are indices of values, views of them, and names of tensors. */
export type Step =
  | LookupStep
  | QuantizeStep
  | LinearInt8Step
  | LinearF32Step
  | LayerNormStep
  | RmsNormStep
  | AddStep
  | MultiplyStep
  | ActivationStep
  | RotateStep
  | AttentionStep
  | ClsStep
  | MeanStep;

/** The operations of the engine. A new operation needs a file, a line here, and a line in `Step`. */
const operations: { readonly [Op in Step["op"]]: Operation<Extract<Step, { op: Op }>> } = {
  lookup,
  quantize: quantizeRows,
  linearInt8,
  linearF32,
  layerNorm,
  rmsNorm,
  add,
  multiply,
  activation,
  rotate,
  attention,
  cls,
  mean,
};

/** Checks the operands of a step. @throws ProgramFault */
export function checkStep(step: Fields, read: OperandReader, sizes: Sizes): CheckedOperation {
  const op = step["op"];
  if (typeof op !== "string" || !Object.hasOwn(operations, op)) {
    throw new ProgramFault(`this version has no operation ${shown(op)}`);
  }
  return operations[op as Step["op"]](step, read, sizes);
}
