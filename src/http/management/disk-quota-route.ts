import type { DocumentFormat } from "../../body/document.ts";
import { decodeQuotaChange, encodeQuota } from "../../configuration/gwc/codec/quota-codec.ts";
import type { QuotaConfiguration, QuotaRoot } from "../../quota/configuration/quota-configuration.ts";
import { formOfResource } from "../configuration/document-form.ts";
import { changeQuota } from "../quota-change.ts";
import type { Answer } from "../reply.ts";
import { prefersXml } from "../request/request.ts";
import { administering, type Exchange, type Reply, type Route, type RouteOptions, reading } from "../resource.ts";

type QuotaParts = Pick<RouteOptions, "operations" | "configured">;

/** `/diskquota[.xml|.json]`, also under `/rest` (`docs/reference/wire-format.md`, Disk quota). */
export function diskQuotaRoute(parts: QuotaParts): Route {
  return {
    owns: (first) => first === "diskquota" || first.startsWith("diskquota."),
    resourceAt: (segments) => {
      const found = formOfResource("diskquota", segments);
      if (found === undefined) return undefined;
      const formatOf = (exchange: Exchange): DocumentFormat => found.form ?? negotiated(exchange);
      return {
        methods: {
          GET: reading(async (exchange) =>
            quotaAnswer(parts, await parts.operations.quota(), formatOf(exchange), parts.configured().compat.quotaRoot),
          ),
          PUT: administering((exchange) => putAnswer(parts, exchange, formatOf(exchange))),
        },
      };
    },
  };
}

/**
 * Returns the format of a request without an extension: by Content-Type, else by Accept, else XML
 * (`docs/reference/wire-format.md`, Addresses).
 */
function negotiated({ headers }: Exchange): DocumentFormat {
  const type = headers["content-type"]?.toLowerCase() ?? "";
  if (/\bjson\b/.test(type)) return "json";
  if (/\bxml\b/.test(type)) return "xml";
  return /json/i.test(headers.accept ?? "") && !prefersXml(headers.accept) ? "json" : "xml";
}

async function putAnswer(parts: QuotaParts, exchange: Exchange, format: DocumentFormat): Promise<Reply> {
  const layers = new Set(exchange.catalogue.layers.keys());
  const decoded = await exchange.body((bytes) => decodeQuotaChange(bytes, format, layers));
  if (!decoded.ok) return decoded;
  const { root, change, ignored } = decoded.value;
  const changed = await changeQuota(parts.operations, change, exchange.by);
  if (!changed.ok) return changed;
  const { quota, detail } = changed.value;
  const answer = { ...quotaAnswer(parts, quota, format, root), detail };
  return ignored === undefined ? answer : { ...answer, ignored, headers: { Warning: warningOf(ignored) } };
}

/** Returns a warning about ignored fields in the form of RFC 7234 (5.5): in quotes, in ASCII. */
function warningOf(fields: readonly string[]): string {
  const names = fields.map((field) => field.replace(/[^\w.:[\]-]/g, "?"));
  return `299 - "unknown fields were ignored: ${names.join(", ")}"`;
}

function quotaAnswer(
  { configured }: QuotaParts,
  configuration: QuotaConfiguration,
  format: DocumentFormat,
  root: QuotaRoot,
): Answer {
  return {
    status: 200,
    type: format === "xml" ? "text/xml" : "application/json",
    body: encodeQuota(configuration, format, root, configured().compat.quotaForm),
  };
}
