import type { AnswerFields } from "../contract/fields.ts";
import type { AnswerDetails } from "../service.ts";

/** Returns the fields that every answer of our own routes has. */
export const answerFields = ({ model, version, tier, tokens }: AnswerDetails): AnswerFields => ({
  model,
  version,
  tier,
  usage: { tokens },
});
