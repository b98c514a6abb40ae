/** The file with the Worker's secrets on this machine. Git ignores it, and only its owner can read it. */
export const SECRETS = ".dev.vars";

/** Makes the content of `SECRETS`, with a random API key. */
export const devVars = (): string => `API_KEYS=${crypto.randomUUID()}\n`;
