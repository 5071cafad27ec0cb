/** A tile of a list. The row is counted from the top. */
export interface ListedTile {
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

const LINE = /^(\d{1,2})\/(\d{1,9})\/(\d{1,9})$/;
/** The longest line that may be a tile, in characters. */
const LONGEST = 64;
const NEWLINE = 0x0a;

/** Parses a line `z/x/y`, in which blanks at the ends and a carriage return are ignored. Undefined: it is no tile. */
export function parseLine(line: string): ListedTile | undefined {
  const [, level, column, row] = LINE.exec(line.slice(0, LONGEST).trim()) ?? [];
  if (level === undefined || column === undefined || row === undefined || line.length > LONGEST) return undefined;
  return { level: Number(level), column: Number(column), row: Number(row) };
}

/** The complete lines at the beginning of a part of a file, and the bytes that they take. */
export interface Lines {
  readonly lines: readonly string[];
  readonly bytes: number;
}

/**
 * Splits the beginning of a part of a file into lines. The last line is incomplete without a line break.
 * @param isEnd whether the file has ended and does not grow, so that its last line is complete
 * @param isFull whether the part is as large as a part can be: a part without a line break is then one bad line
 */
export function linesOf(part: Uint8Array, isEnd: boolean, isFull: boolean): Lines {
  const newline = part.lastIndexOf(NEWLINE);
  const isWhole = isEnd || (newline < 0 && isFull);
  const bytes = isWhole ? part.byteLength : newline + 1;
  const lines = Buffer.from(part.buffer, part.byteOffset, bytes).toString("latin1").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return { lines, bytes };
}
