import type { Project } from "../project.ts";
import { SECRETS } from "./secrets.ts";

export const gitignore = ({ region }: Project): string =>
  `${[
    "node_modules/",
    ".wrangler/",
    ".bert-edge/",
    ".env",
    ".env.*",
    `${SECRETS}*`,
    `!${SECRETS}.example`,
    ...(region === "none" ? [] : ["dist/"]),
    ...(region === "aws" ? [".serverless/"] : []),
    "*.log",
  ].join("\n")}\n`;

/** The image is built from the functions and package.json alone. */
export const dockerignore = "*\n!package.json\n!package-lock.json\n!functions\n!models-folder\n";
