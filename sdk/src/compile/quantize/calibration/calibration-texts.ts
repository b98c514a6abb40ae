import texts from "./calibration-texts.json" with { type: "json" };

/** Default calibration texts, used when the user provides none. Written for this project. */
export const calibrationTexts: readonly string[] = texts;
