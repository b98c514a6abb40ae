import { onScreen } from "../../sdk/src/cli/screen/on-screen.ts";
import { run } from "./run.ts";
import { ScaffoldError } from "./scaffold-error.ts";

try {
  await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ScaffoldError)) throw error;
  const { stderr } = process;
  console.error(`\n${onScreen(`Error ${error.code}: ${error.message}`, stderr)}`);
  console.error(onScreen(error.hint, stderr, "  "));
  process.exitCode = 1;
}
