import type { IncomingMessage } from "node:http";
import { decodeText, placeOf } from "../../body/body-text.ts";
import { inCharset } from "../../body/charset.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { readBody } from "../request/request.ts";

const FORM = "application/x-www-form-urlencoded";

/**
 * Reads the form in the body of a POST and appends it to the query of the address. If both have a key, the value of the
 * address is the first and counts. A body without a content type is a form.
 * @throws ClientGone if the client disconnects
 */
export async function withForm(query: string, request: IncomingMessage): Promise<Result<string, Refusal>> {
  const type = request.headers["content-type"];
  const isForm = type === undefined || type.split(";")[0]?.trim().toLowerCase() === FORM;
  if (!isForm)
    return refuse({
      code: "unsupported_type",
      message: `Content-Type: expected ${FORM} with the fields of the query, got ${shown(type)}`,
    });
  const body = await readBody(request);
  if (!body.ok) return body;
  const text = inCharset(body.value, type);
  if (!text.ok) return text;
  const form = decodeText(text.value);
  if (!form.ok)
    return refuse({ code: "malformed", message: `The form has ${form.error.reason}${placeOf(form.error)}` });
  return ok([query, form.value.trim()].filter((part) => part !== "").join("&"));
}
