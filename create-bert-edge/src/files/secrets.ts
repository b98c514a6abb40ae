import type { Project } from "../project.ts";

/** Secrets of the Worker on this machine, with a random API key. Git ignores the file. */
export const devVars = (): string => `API_KEYS=${crypto.randomUUID()}\n`;

export const devVarsExample = ({ region }: Project): string =>
  [
    "# Secrets of the Worker on this machine. Copy this file to .dev.vars, which Git ignores.",
    "# Comma-separated keys. Every request must send one of them.",
    "API_KEYS=",
    ...(region === "none"
      ? []
      : [
          "# The region and its key. Without a URL, the edge answers all requests itself.",
          "# REGION_URL=",
          "# REGION_KEY=",
        ]),
    "",
  ].join("\n");
