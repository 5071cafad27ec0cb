import { changeState } from "../support/server/state-database.ts";

/** A schedule as the server shows it. */
interface ScheduleJson {
  readonly runs: readonly { readonly result: string; readonly job: number | null; readonly dueAt: string | null }[];
}

const HOUR_MS = 3_600_000;

/** A schedule that becomes due only when the test says so, while the server is down. */
export class YearlySchedule {
  readonly name = "yearly";
  readonly #problem: (text: string) => void;
  /** The due times. Each must make exactly one run. */
  #due: string[] = [];
  #jobsDue = 0;

  constructor(problem: (text: string) => void) {
    this.#problem = problem;
  }

  /** Returns the schedule's document. A due time that passed while the server was down makes one job. */
  document(job: object): string {
    return JSON.stringify({ name: this.name, cron: "@yearly", missed: "run_once", job });
  }

  /** Between a kill and the next start. */
  comeDue(dataDir: string): void {
    const dueMs = Date.now() - HOUR_MS;
    if (changeState(dataDir, `UPDATE schedule SET next_ms = ${dueMs} WHERE next_ms IS NOT NULL`) === 0) return;
    this.#due.push(new Date(dueMs).toISOString());
    this.#jobsDue++;
  }

  /** Returns whether a due time may have made a job without a request. */
  hasMade(): boolean {
    if (this.#jobsDue === 0) return false;
    this.#jobsDue--;
    return true;
  }

  /** Checks that each due time made one run; undefined while a due time has made none. */
  look(text: string): true | undefined {
    const { runs }: ScheduleJson = JSON.parse(text);
    const counts = this.#due.map((due) => runs.filter(({ dueAt }) => dueAt === due).length);
    if (counts.includes(0)) return undefined;
    if (counts.some((count) => count > 1)) this.#problem(`a time has come more than once: ${text}`);
    this.#due = [];
    return true;
  }

  /** Resets the count of due times. All jobs are known now; a time that was due while a job worked made no job. */
  closeBooks(): void {
    this.#jobsDue = 0;
  }
}
