import type { Problem } from "../../core/server/api.ts";
import type { Draft } from "./draft.ts";

/** The messages of refusals, by the schedule's field that they concern. */
export type FieldErrors = Readonly<Partial<Record<string, string>>>;

/**
 * Returns the message of a refusal by the field at its beginning: "job.zoomStop: expected …".
 * @param prefix the part of the field's path that the request has omitted
 */
export function errorsOf(problem: Problem | undefined, prefix = ""): FieldErrors {
  const found = /^([A-Za-z.]+?)(\[\d+\])*: (.*)$/s.exec(problem?.message ?? "");
  const [, field, , message] = found ?? [];
  return field === undefined || message === undefined ? {} : { [prefix + field]: message };
}

/** Returns the first message about one of the fields, or a part of one. */
export const errorOf = (errors: FieldErrors, ...fields: readonly string[]): string | undefined =>
  Object.entries(errors).find(([field]) => fields.some((one) => field === one || field.startsWith(`${one}.`)))?.[1];

/** The fields of the form. */
export interface FieldsProps {
  readonly draft: Draft;
  readonly change: (changes: Partial<Draft>) => void;
  readonly errors: FieldErrors;
}

/** The fields of the draft that are texts. */
type TextName = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];

/** Returns the props of the control of a text. `paths` are the fields of the request whose errors it shows. */
export const textIn = ({ draft, change, errors }: FieldsProps, name: TextName, ...paths: readonly string[]) => ({
  value: draft[name],
  error: errorOf(errors, ...paths),
  onInput: (text: string): void => change({ [name]: text }),
});

/** Returns the props of the control of a choice. */
export const choiceIn = ({ draft, change, errors }: FieldsProps, name: TextName, ...paths: readonly string[]) => ({
  value: draft[name],
  error: errorOf(errors, ...paths),
  onChoose: (chosen: string): void => change({ [name]: chosen }),
});
