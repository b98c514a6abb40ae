import { BertEdgeError } from "#sdk/artifact/error.ts";
import type { Refusal, WrongInput } from "./wrong-input.ts";

/** Gives an input to the product, which throws if it refuses it. */
type Give = () => unknown;

/** A wrong input whose hints are known. */
export interface WrongCase extends Pick<WrongInput, "shown" | "names" | "mayBeTaken"> {
  readonly give: Give;
  /** Hints, each with the input of a user who follows it. */
  readonly fixes: readonly (readonly [says: RegExp, give: Give])[];
}

export const wrongCase = ({ give, fixes, ...about }: WrongCase): WrongInput => ({
  ...about,
  give: () => refusalOf(give),
  followed({ message, hint = "" }) {
    const done = fixes.find(([says]) => says.test(`${message} ${hint}`))?.[1];
    return done && wrongCase({ shown: "after a hint", names: [""], mayBeTaken: true, give: done, fixes: [] });
  },
});

/** Returns what a user sees of an error. Other errors than the package's own are unexpected. */
async function refusalOf(give: Give): Promise<Refusal | undefined> {
  try {
    await give();
    return undefined;
  } catch (error) {
    if (!(error instanceof BertEdgeError)) return { status: "throws", code: "internal", message: `${error}` };
    const { code, message, hint } = error;
    return { status: "throws", code, message, hint };
  }
}
