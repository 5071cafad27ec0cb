/** Ranges of EPSG codes, including both ends. */
type CodeRanges = readonly (readonly [first: number, last: number])[];

/** Parses the ranges of `epsg-tables.ts`. */
export const rangesOf = (text: string): CodeRanges =>
  text
    .trim()
    .split(/\s+/)
    .map((range) => {
      const [first = "", last = first] = range.split("-");
      return [Number(first), Number(last)] as const;
    });

export const inRanges = (ranges: CodeRanges, code: number): boolean =>
  ranges.some(([first, last]) => code >= first && code <= last);
