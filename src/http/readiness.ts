/** States whether the server can serve requests, and the reason if it cannot. */
export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly reason: string;
      /**
       * True if only health requests are answered, because a truncation that the last process did not finish may still
       * be running.
       */
      readonly isStarting?: true;
    };

export const STARTING: Readiness = { ready: false, reason: "starting", isStarting: true };

/** A store in a reason, with its id if there are several. */
const STORE = /^(?:the )?store(?: (?:"([^"]*)"|([\w.-]+)(?=:)))?/;

/** A database of changes in a reason. */
const DATABASE = /^the database "([^"]*)" of changes/;

/** The beginnings of reasons that reveal nothing about the machine or its network. */
const PUBLIC_REASONS = [
  "starting",
  "shutting down",
  "draining",
  "the coordinator does not answer",
  "this node has no lease of the lead",
  "the disk of the data directory is full",
];

/**
 * Returns the public form of a reason, which has a line for each kind of fault: the part that has the fault, and the id
 * of a store. Only authenticated clients see paths, addresses and messages of libraries.
 */
export const publicReason = (reason: string): string => [...new Set(reason.split("\n").map(publicLine))].join("\n");

function publicLine(line: string): string {
  const store = STORE.exec(line);
  if (store !== null) {
    const id = store[1] ?? store[2];
    return id === undefined ? "the store cannot be used" : `the store ${JSON.stringify(id)} cannot be used`;
  }
  const database = DATABASE.exec(line)?.[1];
  if (database !== undefined) return `the database ${JSON.stringify(database)} of changes cannot be read`;
  if (/state database|PostgreSQL/.test(line) && !line.startsWith("this node"))
    return "the state database cannot be used";
  return PUBLIC_REASONS.find((known) => line.startsWith(known)) ?? "the server cannot work: its log has the reason";
}
