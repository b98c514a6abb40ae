const codes = new Set(["ENOENT", "EISDIR", "ENOTDIR"]);

/** Whether a file system error means that there is no such file: the path is free, is a folder, or leads through a file. */
export const isAbsent = (error: unknown): boolean => codes.has((error as NodeJS.ErrnoException).code ?? "");
