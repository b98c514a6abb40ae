// Lets schemathesis, from PyPI, send requests made from /openapi.json to the edge, in workerd, and to the region. It finds answers
// that the document does not describe, server errors, wrong bodies that are accepted, and routes that work without a key.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onBothTiers } from "../clients/served-models.ts";
import { commandLine } from "../commands/command-line.ts";
import { pythonWith } from "../fixtures/python-with.ts";
import { runCommand } from "../fixtures/run-command.ts";

commandLine(
  "npm run e2e:contract\nLets schemathesis, from PyPI, send requests made from /openapi.json to edge and region.",
);

/** Bodies can be refused for what a schema does not say: the model has another task, or a text has only white space. */
const EXCLUDED = "positive_data_acceptance";
/**
 * Headers that a server does not know are ignored, as HTTP demands. Requests with a tiny latency budget may get 503 `overloaded` or
 * 504 `budget_exceeded`, as the document says; other 5xx are errors.
 */
const CONFIG = `[generation]
allow-extra-parameters = false
[checks.not_a_server_error]
expected-statuses = ["2XX", "3XX", "4XX", "503", "504"]
`;
const EXAMPLES = process.env["CONTRACT_EXAMPLES"] ?? "50";

const folder = await mkdtemp(join(tmpdir(), "bert-edge-contract-"));
try {
  const python = await pythonWith(folder, ["schemathesis"]);
  const schemathesis = join(dirname(python), "schemathesis");
  const config = join(folder, "schemathesis.toml");
  await writeFile(config, CONFIG);
  await onBothTiers(folder, async (url, key) => {
    const options = [
      "--exclude-checks",
      EXCLUDED,
      "--max-examples",
      EXAMPLES,
      "--seed",
      "1",
      "--request-timeout",
      "20",
    ];
    const header = ["--header", `Authorization: Bearer ${key}`];
    await runCommand(
      folder,
      schemathesis,
      "--config-file",
      config,
      "run",
      `${url}/openapi.json`,
      ...header,
      ...options,
    );
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
