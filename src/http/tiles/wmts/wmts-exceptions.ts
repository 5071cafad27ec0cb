import { refuse } from "../../../lib/result.ts";
import type { ProtocolRefusal } from "../tile-parts.ts";

/** A refusal with an exception code of OWS Common (OGC 06-121r3, table 25) or of WMTS (07-057r7, table 24). */
export type Failed = { readonly ok: false; readonly error: ProtocolRefusal };

export const missing = (locator: string): Failed =>
  refuse({
    code: "bad_field",
    field: locator,
    expected: "a value",
    value: "none",
    exception: { code: "MissingParameterValue", locator },
  });

/** A disabled layer has an exception of its own. */
export const as = (refusal: ProtocolRefusal, code: string, locator: string): Failed =>
  refuse(refusal.code === "layer_disabled" ? refusal : { ...refusal, exception: { code, locator } });

export const invalid = (locator: string, refusal: ProtocolRefusal): Failed =>
  as(refusal, "InvalidParameterValue", locator);
