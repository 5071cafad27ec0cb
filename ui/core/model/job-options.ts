import { type ClientField, clientFields, type NumberName } from "../../../src/plan/job/job-fields.ts";
import type { TextKey } from "../text/i18n.ts";

export const TYPES = ["seed", "reseed", "truncate"] as const;
export type JobType = (typeof TYPES)[number];

const RENDERS = ["seed", "reseed"] as const;
const RESEED = ["reseed"] as const;

const asIs = (text: string): unknown => text;
/** Returns a number. A text that is not a number is sent unchanged, so that the server's refusal names it. */
export const asNumber = (text: string): unknown =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
const asYes = (text: string): unknown => (text === "true" ? true : undefined);
export function asJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

export interface JobOption {
  /** The field of a request, which is also the key in the address of a form. */
  readonly name: string;
  readonly read: (text: string) => unknown;
  readonly types: readonly JobType[];
  /** The option of the command line. Absent if the command has no such option. */
  readonly option?: string;
  /**
   * The label of the option among the terms of a new job. Its hint is the text with `.hint`. Absent: a separate
   * control.
   */
  readonly text?: Extract<TextKey, `newJob.${string}`> & HintedText;
  /** The value in the document of a job whose request lacked the field. Null is such a value for each field. */
  readonly standard?: unknown;
  /**
   * Whether the page of a job shows the value, if its document has one, under the label of the option. Other options
   * have separate rows.
   */
  readonly isFact?: boolean;
}

/** The texts that have a hint. */
type HintedText = TextKey extends infer K ? (K extends `${infer Base}.hint` ? Base : never) : never;

type FieldName = ClientField["name"];
/** How the fields that are not numbers are read. Each has a separate control in the form. */
const CONTROLS: Readonly<Record<Exclude<FieldName, NumberName>, JobOption["read"]>> = {
  onlyExisting: asYes,
  olderThan: asIs,
  order: asIs,
};
const isControl = (name: FieldName): name is keyof typeof CONTROLS => name in CONTROLS;

const FIELDS = clientFields().map(({ group, ...field }): JobOption => {
  const { name } = field;
  const types = group === "reseeds" ? RESEED : RENDERS;
  if (isControl(name)) return { ...field, types, read: CONTROLS[name] };
  // The compiler demands the label, with a hint, of the English texts.
  return { ...field, types, read: asNumber, text: `newJob.${name}`, isFact: name !== "maxFailures" };
});

/**
 * The fields of a job request that depend on no layer and no other field, in the order of the form. The form of a new
 * job, the form of a schedule, the request and the command that repeat a job follow from this table.
 */
export const JOB_OPTIONS: readonly JobOption[] = [
  ...FIELDS.filter(({ text }) => text === undefined),
  { name: "priority", read: asNumber, types: TYPES, option: "priority", text: "newJob.priority", standard: 10 },
  { name: "rateLimit", read: asNumber, types: RENDERS, option: "rate-limit", text: "newJob.rateLimit" },
  { name: "runWindow", read: asJson, types: TYPES },
  { name: "threadCount", read: asNumber, types: RENDERS, option: "threads", text: "newJob.threads", standard: 1 },
  ...FIELDS.filter(({ text }) => text !== undefined),
];

export const jobOption = (wanted: string): JobOption | undefined => JOB_OPTIONS.find(({ name }) => name === wanted);

/** Returns the options of the command line for the values of options. A value of true is an option without a value. */
export const optionFlags = (values: Readonly<Record<string, unknown>>): readonly string[] =>
  JOB_OPTIONS.flatMap(({ name, option }) => {
    const value = values[name];
    if (option === undefined || value === null || value === undefined || value === "") return [];
    return value === true || value === "true" ? [`--${option}`] : [`--${option}`, String(value)];
  });
