import { styleText } from "node:util";

/** Colours a text, if the stream is a terminal that shows colours. NO_COLOR and FORCE_COLOR decide otherwise. */
export const colour = (
  name: "green" | "red" | "yellow" | "bold" | "dim",
  text: string,
  stream: NodeJS.WriteStream,
): string => styleText(name, text, { stream });
