/**
 * Returns whether the standard variables name an OpenTelemetry collector. Without one, no OpenTelemetry code is loaded.
 */
export function namesCollector(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return false;
  return Boolean(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"]);
}
