/** The end of what has happened in a simulation, as lines with times. */
export class Story {
  readonly #nowMs: () => number;
  readonly #startMs: number;
  #lines: string[] = [];
  /** A digest of all lines, which is equal for equal simulations. */
  digest = 0;
  /** The violations of oracles. */
  readonly problems: string[] = [];
  echo = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#startMs = nowMs();
  }

  note(line: string): void {
    const text = `${this.#time()} ${line}`;
    for (let n = 0; n < text.length; n++) this.digest = (Math.imul(this.digest, 31) + text.charCodeAt(n)) | 0;
    if (this.echo) console.log(text);
    this.#lines.push(text);
    if (this.#lines.length > 20_000) this.#lines = this.#lines.slice(-10_000);
  }

  problem(line: string): void {
    this.note(`PROBLEM ${line}`);
    this.problems.push(line);
  }

  /** Returns the last lines that name one of the words, or have no layer. */
  last(count: number, isWanted: (line: string) => boolean = () => true): string {
    return this.#lines.filter(isWanted).slice(-count).join("\n");
  }

  /** hours:minutes:seconds.ms since the start. */
  #time(): string {
    const ms = this.#nowMs() - this.#startMs;
    const two = (n: number): string => String(Math.floor(n) % 60).padStart(2, "0");
    return `${String(Math.floor(ms / 3_600_000)).padStart(2, "0")}:${two(ms / 60_000)}:${two(ms / 1_000)}.${String(Math.floor(ms % 1_000)).padStart(3, "0")}`;
  }
}
