import { commandLine } from "./command-line.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as in `bert-edge embed … | head`.
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await commandLine(process.argv.slice(2));
