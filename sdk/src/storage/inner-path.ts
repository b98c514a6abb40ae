/** Whether a path with slashes stays inside of the folder that it is joined to, on every platform. */
export const isInnerPath = (path: string): boolean =>
  !path.split("/").some((part) => part === "" || part === "." || part === ".." || /[\\:\0]/.test(part));
