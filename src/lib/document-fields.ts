import * as z from "zod";
import type { ReadonlyDeep } from "./readonly-deep.ts";

/**
 * The type of a document of `/api/v1` that a schema describes. A value that lacks a described field is not assignable.
 * It is the input type of the schema, because a scheduled job has the fields of a request before it is decoded.
 */
export type DocumentOf<S extends z.ZodType> = ReadonlyDeep<z.input<S>>;

/** A time of the day such as 22:00. */
export const timeOfDay = { type: "string", pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" };
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
/** The fields that name a tile set. */
export const tileSetKeys = { layer: text, gridSet: text, format: text, parametersId: text };
export const numbers4 = z.tuple([z.number(), z.number(), z.number(), z.number()]);
/** An object with undescribed fields. */
export const anyObject = z.custom<object>().meta({ type: "object" });
