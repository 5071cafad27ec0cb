import * as z from "zod";
import { timeOfDay } from "../jobs/job-document.ts";

/** Integers of 64 bits. Their JSON text is exact. */
export const int64Json = { type: "integer", format: "int64" };
/** A count or an id of the type number. */
export const int64 = z.int().meta(int64Json);
/** A count of the type bigint. */
export const bigint64 = z.bigint().meta(int64Json);

export const text = z.string();
export const textOrNull = text.nullable();
export const whole = z.int();
export const moment = text.meta({ format: "date-time" });
export const momentOrNull = moment.nullable();
export const time = text.meta(timeOfDay);
export const parameters = z.record(text, text);
export const numbers4 = z.tuple([z.number(), z.number(), z.number(), z.number()]);
/** An object with undescribed fields. */
export const anyObject = z.custom<object>().meta({ type: "object" });
