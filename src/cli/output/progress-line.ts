export interface Bar {
  /** Of all, 0 to 1. */
  readonly share: number;
  /** What stands beside it instead of the whole text. */
  readonly text: string;
}

/** How far something is, on stderr: so that stdout is the answer alone. */
export interface ProgressLine {
  show(text: string, bar?: Bar): void;
  close(): void;
}

/** One with a bar that overwrites itself on a terminal; lines elsewhere. */
export const progressLine = (): ProgressLine => (process.stderr.isTTY ? terminalLine() : logLine());

const CLEAR = "\r\x1b[K";
const CELLS = { most: 30, least: 10 } as const;

function terminalLine(): ProgressLine {
  return {
    // A terminal that does not say how wide it is has 0 columns.
    show: (text, bar) =>
      void process.stderr.write(`${CLEAR}${terminalText(text, bar, (process.stderr.columns || 80) - 1)}`),
    close: () => void process.stderr.write(CLEAR),
  };
}

/** A line that wraps, or goes to the next in its middle, could not be overwritten. */
export function terminalText(text: string, bar: Bar | undefined, width: number): string {
  const line = (bar?.text ?? text).replace(/\p{Cc}+/gu, " ");
  if (bar === undefined) return line.slice(0, width);
  const room = width - line.length - "[] ".length;
  const cells = Math.max(CELLS.least, Math.min(CELLS.most, room));
  const done = Math.floor(cells * Math.min(1, bar.share));
  return `[${"#".repeat(done)}${"-".repeat(cells - done)}] ${line}`.slice(0, width);
}

function logLine(): ProgressLine {
  let last = "";
  return {
    show(text) {
      if (text !== last) process.stderr.write(`${text}\n`);
      last = text;
    },
    close: () => undefined,
  };
}
