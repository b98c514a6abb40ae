import { COMBINING_SHIFT, IS_APART } from "../../../../runtime/tokenizer/packed/byte-level/code-point-flags.ts";
import { partsOf } from "../../../../runtime/tokenizer/packed/byte-level/compose.ts";
import type { CodePointTable } from "../../../../runtime/tokenizer/packed/code-points.ts";
import type { UnicodeForm } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { codePointNumbers, codePointSet, pagesWithBorders } from "../code-point-classes.ts";
import { codePointPages, pageText } from "../code-point-pages.ts";
import rust from "./rust-normalizers.json" with { type: "json" };

/** Characters that JavaScript reorders, decomposes or composes and the Rust tokenizers do not, in any form. */
const apart = codePointSet(rust.sets.apart);
/** Combining class of each character that does not decompose. */
const combiningClasses = codePointNumbers(
  Object.entries(rust.combining).map(([combiningClass, ranges]) => [Number(combiningClass), ranges]),
);
const mixedPages = pagesWithBorders([rust.sets.apart, ...Object.values(rust.combining)]);

/** Builds the table for converting texts to a normalization form. code-point-flags.ts describes its numbers. */
export function formFlags(form: UnicodeForm): CodePointTable {
  const parts = partsOf(form);
  return codePointPages(
    (point) => {
      if (apart.has(point)) return IS_APART;
      // A character that decomposes has the combining class of its first part.
      const part = String.fromCodePoint(point).normalize(parts).codePointAt(0) as number;
      return (combiningClasses[part] as number) << COMBINING_SHIFT;
    },
    (first) => !mixedPages.has(first) && pageText(first).normalize(parts) === pageText(first),
  );
}
