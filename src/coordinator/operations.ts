import type { MethodTable, Sending } from "../lib/process/method-table.ts";
import type { buildServices } from "./build/build-services.ts";

/** The services of the coordinator. */
export type Services = ReturnType<typeof buildServices>["services"];

interface OperationRow {
  readonly sending: Sending;
  /**
   * True if the result depends on the use of tiles: the calling process first reports the reads of tiles that it has
   * collected.
   */
  readonly readsFirst?: true;
}

const CALL = { sending: "call" } as const;
const CALL_READS_FIRST = { sending: "call", readsFirst: true } as const;
const UNTIL = { sending: "until" } as const;

/**
 * All operations that the coordinator offers to the management interface, by service. The type `Operations` and the
 * forwarders between the processes are derived from this table. A result is true at the time of the answer. A change is
 * persisted before its promise resolves.
 */
export const OPERATIONS = {
  jobs: {
    submit: CALL_READS_FIRST,
    submitAll: CALL_READS_FIRST,
    keyed: CALL,
    kill: CALL,
    killTask: CALL,
    cancel: CALL,
    pause: CALL,
    unpause: CALL,
    change: CALL,
    retry: CALL_READS_FIRST,
    deleteJob: CALL,
    job: CALL,
    failedTiles: CALL,
    jobTimeline: CALL,
    jobZooms: CALL,
  },
  jobLists: { rows: CALL, jobs: CALL, jobList: CALL, countJobs: CALL },
  estimates: { estimate: UNTIL, estimateAll: UNTIL },
  schedules: {
    schedules: CALL,
    scheduleHealth: CALL,
    schedule: CALL,
    addSchedule: CALL,
    putSchedule: CALL,
    changeSchedule: CALL,
    removeSchedule: CALL,
    pauseSchedule: CALL,
    resumeSchedule: CALL,
    runSchedule: CALL_READS_FIRST,
  },
  truncations: {
    truncate: CALL,
    previewTruncation: CALL,
    truncations: CALL,
    truncation: CALL,
    undoTruncation: CALL,
    reclaimTruncation: CALL,
  },
  usage: {
    usage: CALL,
    usageHistory: CALL,
    verify: CALL,
    verification: CALL,
    cancelVerification: CALL,
  },
  quota: {
    quota: CALL,
    overruledQuota: CALL,
    previewQuota: CALL,
    changeQuota: CALL_READS_FIRST,
    previewQuotaReset: CALL,
    resetQuota: CALL_READS_FIRST,
  },
  metrics: { jobMetrics: CALL },
  coverage: { coverage: UNTIL, coverageLevels: UNTIL, evictedAt: CALL },
  tiles: { tileChanges: UNTIL },
  exports: { exportTiles: UNTIL },
  imports: { importTiles: CALL },
  purges: { purges: CALL },
  changes: { changeSources: CALL },
  copies: { copyStore: CALL, storeCopies: CALL, cancelStoreCopy: CALL },
  activity: { recordActivity: CALL, activity: CALL },
  sessions: { openSession: CALL, session: CALL, isSession: CALL, closeSession: CALL },
  accounts: {
    addUser: CALL,
    changeUser: CALL,
    deleteUser: CALL,
    apiTokens: CALL,
    makeApiToken: CALL,
    deleteApiToken: CALL,
    apiTokenUsed: CALL,
  },
} as const satisfies {
  readonly [S in keyof Services]: {
    readonly [M in keyof Services[S]]?: OperationRow & MethodTable<Services[S]>[M];
  };
};

type Offered = { [S in keyof Services]: Pick<Services[S], keyof (typeof OPERATIONS)[S] & keyof Services[S]> };
type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;

/** The operations of all services, by their names in the table. */
export interface Operations extends Intersection<Offered[keyof Services]> {}

type Row = OperationRow & { readonly service: keyof Services };

/** The rows of the table by the name of the operation. */
export const OPERATION_ROWS: ReadonlyMap<string, Row> = new Map(
  Object.entries(OPERATIONS).flatMap(([service, rows]) =>
    Object.entries<OperationRow>(rows).map(([name, row]) => [name, { ...row, service: service as keyof Services }]),
  ),
);

/** The operations as methods of the coordinator. */
export const OPERATION_TABLE = Object.fromEntries(
  [...OPERATION_ROWS].map(([name, { sending }]) => [name, { sending }]),
) as MethodTable<Operations>;

/** Returns operations that look up their service at each call, because the services are built later. */
export function operationsOf(services: () => Services): Operations {
  const methods = [...OPERATION_ROWS].map(([name, { service }]) => [
    name,
    (...args: readonly unknown[]) => {
      const object = services()[service];
      // The type of the table guarantees that the service has this method.
      return Reflect.apply(object[name as keyof typeof object], object, args);
    },
  ]);
  return Object.fromEntries(methods);
}
