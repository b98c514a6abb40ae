import { SeededChoice } from "../choose.ts";
import * as mistakes from "./bodies.ts";
import { type Judged, judge } from "./judge-refusal.ts";
import { library } from "./library.ts";
import { longTexts, modelInBody, modelInPath } from "./models.ts";
import { wrongNameSetting, wrongTruncateSetting } from "./settings.ts";
import type { WrongInput, WrongInputs } from "./wrong-input.ts";

const { requestsWith, wrongKind, misspeltName, missing, nullInside } = mistakes;
const isOfPairs = (path: string) => /rerank|score|similarity|predict|classify|zero-shot|answer/.test(path);

/** Parts of the product that users give wrong inputs, by the name that `--wrong` takes. */
export const parts: Readonly<Record<string, WrongInputs>> = {
  fields: requestsWith([
    ...[wrongKind, wrongKind, misspeltName, misspeltName, missing, mistakes.noNumber, mistakes.twice],
    ...[mistakes.encoded, mistakes.misplaced, mistakes.byteOrderMark, mistakes.budget],
  ]),
  nulls: requestsWith([nullInside, nullInside, nullInside, mistakes.nullBody]),
  texts: oneOf(requestsWith([longTexts]), { start: async () => wrongTruncateSetting }),
  names: oneOf(requestsWith([modelInBody, modelInPath]), { start: async () => wrongNameSetting }),
  library,
  pairs: requestsWith([wrongKind, wrongKind, misspeltName, misspeltName, missing, nullInside], isOfPairs),
};

/** Draws from several parts. */
function oneOf(...all: readonly WrongInputs[]): WrongInputs {
  return {
    async start() {
      const draws = await Promise.all(all.map(({ start }) => start()));
      return (choice) => choice.of(draws)(choice);
    },
  };
}

/** Draws inputs from a seed on, gives them, and judges the answers. */
export async function* judgedInputs(
  { start }: WrongInputs,
  { runs, seed }: { runs: number; seed: number },
): AsyncGenerator<{ input: WrongInput; judged: Judged }> {
  const draw = await start();
  for (let i = 0; i < runs; i++) {
    const input = draw(new SeededChoice(seed + i));
    yield { input, judged: await judge(input) };
  }
}
