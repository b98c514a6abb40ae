/**
 * A size: a number, or a polynomial with integer coefficients if the size depends on the batch size or the sequence
 * length. Variables of a polynomial are symbols and functions such as `max(a, b)`. Equal polynomials have equal keys.
 */
export type Dim = number | Polynomial;

export type Shape = readonly Dim[];

/** A variable of a polynomial: a symbol, or a function of two sizes such as `max(a, b)`. */
type Atom = { readonly key: string; readonly of?: { readonly name: FunctionName; readonly args: readonly [Dim, Dim] } };

type FunctionName = keyof typeof functions;
const functions = {
  floordiv: (a: number, b: number) => Math.floor(a / b),
  max: Math.max,
  min: Math.min,
  times: (a: number, b: number) => a * b,
};

/**
 * Maximum length of a polynomial's key. Products with longer keys are not expanded, and sizes with longer keys count as
 * unknown. Without this limit, repeated products could fill the memory.
 */
export const MAX_DIM_KEY_LENGTH = 1024;

interface Term {
  readonly coefficient: number;
  readonly atoms: readonly Atom[];
}

class Polynomial {
  readonly key: string;
  readonly terms: readonly Term[];

  constructor(terms: readonly Term[]) {
    this.terms = terms;
    this.key = terms
      .map(({ coefficient, atoms }) => {
        const names = atoms.map((atom) => atom.key).join("*");
        return names === "" ? `${coefficient}` : coefficient === 1 ? names : `${coefficient}*${names}`;
      })
      .join("+");
  }

  toString(): string {
    return this.key;
  }
}

export const symbolicDim = (name: string): Dim => new Polynomial([{ coefficient: 1, atoms: [{ key: name }] }]);

export const sameDim = (a: Dim | undefined, b: Dim | undefined): boolean =>
  a !== undefined && b !== undefined && (typeof a === "number" || typeof b === "number" ? a === b : a.key === b.key);

export const sameShape = (a: Shape | undefined, b: Shape | undefined): boolean =>
  a !== undefined && b !== undefined && a.length === b.length && a.every((dim, i) => sameDim(dim, b[i]));

export const isStatic = (shape: Shape | undefined): shape is readonly number[] =>
  shape?.every((dim) => typeof dim === "number") === true;

/** Returns the symbol's name if the size is exactly one symbol. */
export function symbolOf(dim: Dim | undefined): string | undefined {
  const multiple = symbolMultiple(dim);
  return multiple?.factor === 1 ? multiple.symbol : undefined;
}

/** Returns the symbol and the factor if the size is a multiple of one symbol. */
export function symbolMultiple(dim: Dim | undefined): { symbol: string; factor: number } | undefined {
  if (dim === undefined || typeof dim === "number" || dim.terms.length !== 1) return undefined;
  const term = dim.terms[0] as Term;
  const atom = term.atoms[0] as Atom;
  return term.atoms.length === 1 && !atom.of ? { symbol: atom.key, factor: term.coefficient } : undefined;
}

/** Whether the size is certainly 0 or more, if its symbols are 0 or more. */
export const isNonNegative = (dim: Dim): boolean =>
  typeof dim === "number"
    ? dim >= 0
    : dim.terms.every(({ coefficient, atoms }) => coefficient >= 0 && atoms.every(isNonNegativeAtom));

function isNonNegativeAtom({ of }: Atom): boolean {
  if (!of) return true;
  const [a, b] = of.args;
  return of.name === "max" ? isNonNegative(a) || isNonNegative(b) : isNonNegative(a) && isNonNegative(b);
}

export const addDims = (a: Dim, b: Dim): Dim => normalize([...termsOf(a), ...termsOf(b)]);

export const subDims = (a: Dim, b: Dim): Dim => addDims(a, mulDims(-1, b));

export function mulDims(a: Dim, b: Dim): Dim {
  const [lefts, rights] = [termsOf(a), termsOf(b)];
  const length = `${a}`.length * rights.length + `${b}`.length * lefts.length;
  if (length > MAX_DIM_KEY_LENGTH && typeof a !== "number" && typeof b !== "number") return apply("times", a, b);
  return normalize(
    lefts.flatMap((left) =>
      rights.map((right) => ({
        coefficient: left.coefficient * right.coefficient,
        atoms: [...left.atoms, ...right.atoms],
      })),
    ),
  );
}

/** Returns a / b rounded down: the exact quotient if `divideDimsExactly` finds it, otherwise `floordiv(a, b)`. */
export function floorDivDims(a: Dim, b: Dim): Dim {
  return divideDimsExactly(a, b) ?? apply("floordiv", a, b);
}

export const maxDim = (a: Dim, b: Dim): Dim =>
  isNonNegative(subDims(a, b)) ? a : isNonNegative(subDims(b, a)) ? b : apply("max", a, b);
export const minDim = (a: Dim, b: Dim): Dim =>
  isNonNegative(subDims(a, b)) ? b : isNonNegative(subDims(b, a)) ? a : apply("min", a, b);

export const dimProduct = (dims: readonly Dim[]): Dim => dims.reduce<Dim>(mulDims, 1);

/**
 * Returns a / b if a and b are equal, or if b is a single term that divides every term of a. Otherwise returns
 * undefined.
 */
export function divideDimsExactly(a: Dim, b: Dim): Dim | undefined {
  if (sameDim(a, b)) return 1;
  const [divisor, ...rest] = termsOf(b);
  if (!divisor || rest.length > 0) return undefined;
  const quotient: Term[] = [];
  for (const { coefficient, atoms } of termsOf(a)) {
    if (coefficient % divisor.coefficient !== 0) return undefined;
    const left = [...atoms];
    for (const { key } of divisor.atoms) {
      const at = left.findIndex((atom) => atom.key === key);
      if (at < 0) return undefined;
      left.splice(at, 1);
    }
    quotient.push({ coefficient: coefficient / divisor.coefficient, atoms: left });
  }
  return normalize(quotient);
}

/** Replaces the symbols in a size. */
export function substituteSymbols(dim: Dim, value: (symbol: string) => Dim): Dim {
  if (typeof dim === "number") return dim;
  return dim.terms.reduce<Dim>((sum, { coefficient, atoms }) => {
    const factors = atoms.map(({ key, of }) => {
      if (!of) return value(key);
      const [a, b] = of.args.map((arg) => substituteSymbols(arg, value)) as [Dim, Dim];
      return { floordiv: floorDivDims, max: maxDim, min: minDim, times: mulDims }[of.name](a, b);
    });
    return addDims(sum, mulDims(coefficient, dimProduct(factors)));
  }, 0);
}

/** Lists the symbols in a size. */
export function symbolsOf(dim: Dim): string[] {
  if (typeof dim === "number") return [];
  return dim.terms.flatMap(({ atoms }) => atoms.flatMap(({ key, of }) => (of ? of.args.flatMap(symbolsOf) : [key])));
}

function apply(name: FunctionName, a: Dim, b: Dim): Dim {
  if (typeof a === "number" && typeof b === "number") return functions[name](a, b);
  // Sorts the arguments of symmetric functions (all except floordiv), so that `max(a, b)` and `max(b, a)` have equal
  // keys.
  const args: readonly [Dim, Dim] = name !== "floordiv" && `${b}` < `${a}` ? [b, a] : [a, b];
  return new Polynomial([{ coefficient: 1, atoms: [{ key: `${name}(${args})`, of: { name, args } }] }]);
}

const termsOf = (dim: Dim): readonly Term[] =>
  typeof dim === "number" ? (dim === 0 ? [] : [{ coefficient: dim, atoms: [] }]) : dim.terms;

function normalize(terms: readonly Term[]): Dim {
  const byAtoms = new Map<string, Term>();
  for (const { coefficient, atoms } of terms) {
    const sorted = [...atoms].sort((a, b) => (a.key < b.key ? -1 : 1));
    const key = sorted.map((atom) => atom.key).join("*");
    byAtoms.set(key, { coefficient: (byAtoms.get(key)?.coefficient ?? 0) + coefficient, atoms: sorted });
  }
  const kept = [...byAtoms].filter(([, { coefficient }]) => coefficient !== 0);
  if (kept.length === 0) return 0;
  if (kept.length === 1 && kept[0]?.[0] === "") return kept[0][1].coefficient;
  return new Polynomial(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, term]) => term));
}
