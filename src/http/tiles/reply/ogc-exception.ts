import { escapeXml } from "../../../lib/text/escape.ts";
import { textType } from "../../reply.ts";

/**
 * The format in which a protocol reports errors. `ows-rest`: an address that is no resource, and the failure of an
 * upstream, are plain text; other errors are documents as in `ows`.
 */
export type Dialect = "plain" | "ows" | "ows-rest" | "wms-1.1.1" | "wms-1.3.0";

/** The exception code of an OGC standard, and the parameter at fault. */
export interface OgcException {
  readonly code: string;
  readonly locator?: string;
}

interface ErrorDocument {
  readonly contentType: string;
  readonly body: string;
}

/** Returns an error in the format of its protocol. */
export function errorDocument(dialect: Dialect, exception: OgcException | undefined, text: string): ErrorDocument {
  switch (dialect) {
    case "plain":
      return { contentType: textType(text), body: text };
    case "ows-rest":
      return errorDocument(exception === undefined ? "plain" : "ows", exception, text);
    case "ows":
      return owsException(exception?.code ?? "NoApplicableCode", exception?.locator, text);
    case "wms-1.1.1":
      return wmsException("1.1.1", exception, text);
    case "wms-1.3.0":
      return wmsException("1.3.0", exception, text);
  }
}

/**
 * Returns a text as the content of an element. Does not escape quotes: clients search for GeoWebCache's sentences,
 * which have quotes.
 */
const escapeContent = (text: string): string => escapeXml(text).replaceAll("&#39;", "'");

/** Returns an exception of WMTS 1.0.0: an ows:ExceptionReport 1.1.0. */
function owsException(code: string, locator: string | undefined, text: string): ErrorDocument {
  const where = locator === undefined ? "" : ` locator="${escapeXml(locator)}"`;
  return {
    contentType: "text/xml",
    body: `<?xml version="1.0" encoding="UTF-8"?>
<ExceptionReport version="1.1.0" xmlns="http://www.opengis.net/ows/1.1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.opengis.net/ows/1.1 http://schemas.opengis.net/ows/1.1.0/owsExceptionReport.xsd">
  <Exception exceptionCode="${escapeXml(code)}"${where}>
    <ExceptionText>${escapeContent(text)}</ExceptionText>
  </Exception>
</ExceptionReport>
`,
  };
}

/** The DOCTYPE that annex A.3 of WMS 1.1.1 requires, with the present address of OGC's DTDs. */
const DOCTYPE_111 =
  '<!DOCTYPE ServiceExceptionReport SYSTEM "http://schemas.opengis.net/wms/1.1.1/exception_1_1_1.dtd">';

/** Returns an exception of WMS 1.1.1 (annex A.3) or 1.3.0 (annex E.2). Only 1.3.0 has locators. */
function wmsException(
  version: "1.1.1" | "1.3.0",
  { code, locator }: Partial<OgcException> = {},
  text: string,
): ErrorDocument {
  const where = version === "1.1.1" || locator === undefined ? "" : ` locator="${escapeXml(locator)}"`;
  const coded = code === undefined ? "" : ` code="${escapeXml(code)}"${where}`;
  const namespace = version === "1.3.0" ? ' xmlns="http://www.opengis.net/ogc"' : "";
  const doctype = version === "1.3.0" ? "" : `${DOCTYPE_111}\n`;
  return {
    contentType: version === "1.3.0" ? "text/xml" : "application/vnd.ogc.se_xml",
    body: `<?xml version="1.0" encoding="UTF-8"?>
${doctype}<ServiceExceptionReport version="${version}"${namespace}>
  <ServiceException${coded}>${escapeContent(text)}</ServiceException>
</ServiceExceptionReport>
`,
  };
}
