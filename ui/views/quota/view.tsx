import { Loading, Page } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { may } from "../../core/session.ts";
import { Overruled } from "./overruled.tsx";
import { QuotaForm } from "./quota-form.tsx";
import { QuotaGauges } from "./quota-gauges.tsx";
import { Trend } from "./trend.tsx";

const READ_MS = 30_000;

/** Shows how full the cache is and how it grows, and changes the quota. */
export function View() {
  const usage = useDocument("Usage", "usage", { on: ["quota", "truncation", "configuration"], everyMs: READ_MS });
  const quota = useDocument("Quota", "quota", { on: ["quota"] });
  return (
    <Page title={t("nav.quota")}>
      <Loading of={usage}>
        {(used) => (
          <>
            <QuotaGauges usage={used} />
            <Trend usage={used} />
            <Loading of={quota}>
              {(document) => (
                <>
                  {document.overrules !== undefined && (
                    <Overruled overrules={document.overrules} reload={quota.reload} />
                  )}
                  {may("administer") && <QuotaForm quota={document} usage={used} />}
                </>
              )}
            </Loading>
          </>
        )}
      </Loading>
    </Page>
  );
}
