import type { VocabularyText } from "../vocabulary-text.ts";
import { cleanUp } from "./clean-up.ts";
import type { TokenizerSettings } from "./packed-settings.ts";

/** The parts of `vocabularyText` in which the kinds of tokenizers differ. */
interface VocabularyParts {
  /** Returns the spellings of all tokens that are not added tokens, by id. Called once, when they are needed. */
  spellings(): ReadonlyMap<number, string>;
  readonly settings: Pick<TokenizerSettings, "added" | "cleansTexts" | "joinsAsSpelled">;
  /** Joins spellings to a text. */
  join(spellings: readonly string[]): string;
}

/** Makes the texts of a vocabulary when they are first needed: models that only encode need no memory for them. */
export function vocabularyText({ spellings, settings, join }: VocabularyParts): VocabularyText {
  const { added, cleansTexts, joinsAsSpelled } = settings;
  const special = new Set(added.filter((token) => token.special).map(({ id }) => id));
  let all: ReadonlyMap<number, string> | undefined;
  let ids: ReadonlyMap<string, number> | undefined;
  const texts = () => {
    all ??= new Map([...spellings(), ...added.map(({ id, content }) => [id, content] as const)]);
    return all;
  };
  return {
    spellingOf: (id) => texts().get(id),
    idOf(spelling) {
      ids ??= new Map(Array.from(texts(), ([id, text]) => [text, id]));
      return ids.get(spelling);
    },
    isSpecial: (id) => special.has(id),
    decode(ids, { skipSpecial = false } = {}) {
      const kept = Array.from(ids).filter((id) => !(skipSpecial && special.has(id)));
      const spelled = kept.flatMap((id) => texts().get(id) ?? []);
      const text = joinsAsSpelled ? spelled.join(" ") : join(spelled);
      return cleansTexts ? cleanUp(text) : text;
    },
  };
}
