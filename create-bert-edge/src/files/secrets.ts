/** Secrets of the Worker on this machine, with a random API key. Git ignores the file. */
export const devVars = (): string => `API_KEYS=${crypto.randomUUID()}\n`;
