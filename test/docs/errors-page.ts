import { errorCodes } from "#sdk/artifact/error-codes.ts";
import { clientCodes } from "#sdk/cli/explanations.ts";
import { errorStatus } from "#sdk/serve/contract/errors.ts";
import { table } from "./markdown-table.ts";

const codes = Object.keys(errorCodes).sort() as (keyof typeof errorCodes)[];

/** The classes of the client's own errors. */
const thrown: Readonly<Record<keyof typeof clientCodes, string>> = {
  connection: "ConnectionError",
  redirected: "ConnectionError",
  response_invalid: "ConnectionError",
  timeout: "TimeoutError",
  version_changed: "VersionChangedError",
  "http_<status>": "by status: AuthenticationError, InvalidRequestError, RateLimitError or UnavailableError",
};

const withHttpStatus = codes.filter((code) => code in errorStatus);

/** The text of docs/errors.md. */
export const errorsPage = (): string => `# Error codes

<!-- Written from sdk/src/artifact/error-codes.ts. Update: npx vitest run test/docs/errors-page.test.ts --update -->

Every error that bert-edge throws on purpose is a \`BertEdgeError\` with a \`code\`, a \`message\` (what happened, to what) and,
usually, a \`hint\` (what to do). An error about one of several texts has the \`index\` of that text. The type \`ErrorCode\` of \`bert-edge\` lists the codes. Codes are stable; messages and
hints may change.

${table(
  ["code", "when", "what to do"],
  codes.map((code) => [`\`${code}\``, errorCodes[code].when, errorCodes[code].fix]),
)}

## Over HTTP

The body of an error is \`{"error": {"code", "message", "hint"?, "index"?}}\`, where \`index\` is the input at fault; on \`/v1/embeddings\` it has OpenAI's format. Only these codes are
sent to clients. Every other error is logged, and clients get \`model_unavailable\` or \`internal\`.

${table(
  ["code", "HTTP status"],
  withHttpStatus.map((code) => [`\`${code}\``, String(errorStatus[code as keyof typeof errorStatus])]),
)}

## In the client

\`BertEdge\` of \`bert-edge/client\` throws subclasses of \`BertEdgeClientError\`. Their \`code\` is the code of the service, or one of these:

${table(
  ["code", "class", "when"],
  (Object.keys(thrown) as (keyof typeof thrown)[]).map((code) => [`\`${code}\``, thrown[code], clientCodes[code].when]),
)}
`;
