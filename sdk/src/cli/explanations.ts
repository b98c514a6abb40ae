import { errorCodes } from "../artifact/error-codes.ts";
import type { OwnErrorCode } from "../client/errors.ts";
import { figures } from "./figures.ts";
import { type Explanation, reasons } from "./reasons.ts";

/** The codes of the typed client. `http_<status>` stands for all codes of that form. */
export const clientCodes: Readonly<Record<OwnErrorCode | "http_<status>", Explanation>> = {
  connection: {
    when: "The service could not be reached, or the connection was dropped.",
    fix: "Check the URL and the network. Trying again can help.",
  },
  response_invalid: {
    when: "A successful response does not come from bert-edge, or is damaged: a vector is empty, not finite or has another length.",
    fix: "Check the URL, proxies before the deployment, and what `bert-edge check` says.",
  },
  timeout: { when: "No answer came within `timeoutMs`.", fix: "Allow more time, or send fewer texts a request." },
  version_changed: {
    when: "A new version of the model was published during the call. Vectors of different versions cannot be compared.",
    fix: "Embed all texts again.",
  },
  "http_<status>": {
    when: "The response comes from the platform or from a proxy. JSON errors of your own app keep their code.",
    fix: "Check the URL. The log of the Worker says why it fails: `npx wrangler tail`.",
  },
};

/** Error codes, the figures of a decision, and the reasons for which a tier answers. `pinned` and `region-down` are figures and reasons. */
const explanations: Readonly<Record<string, Explanation>> = { ...errorCodes, ...clientCodes, ...figures, ...reasons };

export const explainedCodes = Object.keys(explanations);

/** Returns when a code or a reason occurs, and how to fix it; undefined if it is unknown. */
export const explanationOf = (code: string): Explanation | undefined =>
  Object.hasOwn(explanations, code)
    ? explanations[code]
    : /^http_\d{3}$/.test(code)
      ? clientCodes["http_<status>"]
      : undefined;
