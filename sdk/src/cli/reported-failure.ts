/** Ends a command with exit code 1. The command has printed the reason. */
export class ReportedFailure extends Error {}
