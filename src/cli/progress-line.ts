/** How far something is, on stderr: so that stdout is the answer alone. */
export interface ProgressLine {
  show(text: string): void;
  close(): void;
}

/** One that overwrites itself on a terminal; lines elsewhere. */
export const progressLine = (): ProgressLine => (process.stderr.isTTY ? terminalLine() : logLine());

const CLEAR = "\r\x1b[K";

function terminalLine(): ProgressLine {
  return {
    // A line that wraps could not be overwritten. A terminal that does not say how wide it is has 0 columns.
    show: (text) => void process.stderr.write(`${CLEAR}${text.slice(0, (process.stderr.columns || 80) - 1)}`),
    close: () => void process.stderr.write(CLEAR),
  };
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
