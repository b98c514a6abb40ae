import type { CohereMeta } from "../../contract/cohere.ts";
import type { AnswerDetails } from "../../service.ts";

export const cohereMeta = ({ tokens }: AnswerDetails): CohereMeta => ({
  api_version: { version: "2" },
  billed_units: { input_tokens: tokens },
});
