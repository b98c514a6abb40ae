import type { ModelShape } from "../../engine.ts";
import type { Program } from "./program.ts";
import type { ProgramValue } from "./values.ts";

/** Returns the sizes of a program's model. parseProgram must have checked the program, so that its output exists. */
export const shapeOf = ({
  maxTokens,
  vocabulary,
  values,
  output,
}: Pick<Program, "maxTokens" | "vocabulary" | "values" | "output">): ModelShape => ({
  maxTokens,
  vocabulary,
  width: (values[output] as ProgramValue).width,
});
