export interface Bar {
  /** The completed share, from 0 to 1. */
  readonly share: number;
  /** The text beside the bar, used in place of the full text. */
  readonly text: string;
}

/** Shows progress on stderr, because stdout is for the answer. */
export interface ProgressLine {
  show(text: string, bar?: Bar): void;
  close(): void;
}

/** Creates a progress line: on a terminal a bar that overwrites itself, elsewhere one line per report. */
export const progressLine = (): ProgressLine => (process.stderr.isTTY ? terminalLine() : logLine());

const CLEAR = "\r\x1b[K";
const CELLS = { most: 30, least: 10 } as const;

function terminalLine(): ProgressLine {
  return {
    // `columns` is 0 on a terminal that does not report its width.
    show: (text, bar) =>
      void process.stderr.write(`${CLEAR}${terminalText(text, bar, (process.stderr.columns || 80) - 1)}`),
    close: () => void process.stderr.write(CLEAR),
  };
}

/**
 * Shortens a text to the width of the terminal. A line that wraps or contains a line break could not be overwritten.
 */
export function terminalText(text: string, bar: Bar | undefined, width: number): string {
  const line = (bar?.text ?? text).replace(/\p{Cc}+/gu, " ");
  if (bar === undefined) return line.slice(0, width);
  const space = width - line.length - "[] ".length;
  const cells = Math.max(CELLS.least, Math.min(CELLS.most, space));
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
