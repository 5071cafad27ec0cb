import { Page } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";

/** The overview: what runs, what needs somebody, and how the cache is. */
export function View() {
  return <Page title={t("nav.overview")}>{null}</Page>;
}
