import type { FormResult, Results, Score } from "./results.ts";

interface Column {
  readonly title: string;
  /** Undefined for a form that was not measured. */
  readonly value: (form: FormResult) => number | undefined;
  readonly cell: (form: FormResult) => string;
  readonly best: "most" | "least";
  /** Ids of forms that are not different from one. Default: all are different. */
  readonly tied?: (form: FormResult) => readonly string[];
}

/** Returns the columns of the measurements: those of each set, and the size. */
function columnsOf({ sets }: Results): Column[] {
  const ofSets = sets.flatMap(({ id, title }): Column[] => {
    const column = (
      name: string,
      key: "kept" | "meanCosine" | "textsPerSecond",
      cell: (score: Score) => string,
    ): Column => ({
      title: `${title} ${name}`,
      value: ({ scores }) => scores?.[id]?.[key],
      cell: ({ scores }) => (scores?.[id] ? cell(scores[id]) : ""),
      best: "most",
    });
    return [
      {
        ...column("kept", "kept", ({ kept, margin }) => `${percent(kept)} ± ${(100 * margin).toFixed(1)} %`),
        tied: ({ scores }) => scores?.[id]?.tied ?? [],
      },
      column("cosine", "meanCosine", ({ meanCosine }) => meanCosine.toFixed(4)),
      column("texts/s", "textsPerSecond", rate),
    ];
  });
  const size: Column = {
    ...{ title: "files", best: "least", value: ({ bytes }) => bytes },
    cell: ({ bytes }) => (bytes === undefined ? "" : `${(bytes / 1e6).toFixed(1)} MB`),
  };
  return [...ofSets, size];
}

/** Formats a rate with three digits or more. */
export const rate = ({ textsPerSecond }: Score): string => textsPerSecond.toFixed(textsPerSecond < 100 ? 1 : 0);

/** Formats a share as a number of percent. */
export const percent = (share: number): string => (100 * share).toFixed(1);

/** Returns the measurements as the cells of a table. The row of a form that was not measured says why. */
export function tableOf(results: Results): { heads: string[]; rows: string[][] } {
  const columns = columnsOf(results);
  return {
    heads: ["form", ...columns.map(({ title }) => title)],
    rows: results.forms.map((form) =>
      form.absent === undefined
        ? [form.title, ...columns.map(({ cell }) => cell(form))]
        : [form.title, `not measured: ${form.absent}`, ...columns.slice(1).map(() => "")],
    ),
  };
}

/** A column, and the int8 form that is best in it. */
export interface Best {
  readonly column: string;
  readonly form: FormResult;
  readonly cell: string;
  /** Other int8 forms that are not different from it. */
  readonly tied: readonly FormResult[];
}

/** Returns the best int8 form of each column; nothing if none was measured. */
export function bestOf(results: Results): Best[] {
  const measured = results.forms.filter(({ precision, absent }) => precision === "int8" && absent === undefined);
  return columnsOf(results).flatMap(({ title, value, cell, best, tied }) => {
    const order = (a: FormResult, b: FormResult) => (value(b) ?? Number.NaN) - (value(a) ?? Number.NaN);
    const form = measured.toSorted(order).at(best === "most" ? 0 : -1);
    if (!form) return [];
    const equals = tied?.(form) ?? [];
    return [{ column: title, form, cell: cell(form), tied: measured.filter(({ id }) => equals.includes(id)) }];
  });
}
