import { Page } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";

export function View() {
  return <Page title={t("nav.schedules")}>{null}</Page>;
}
