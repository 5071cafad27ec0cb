import type { Problem } from "../../core/api.ts";

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
