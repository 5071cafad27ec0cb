import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link } from "../../components/link.tsx";
import { Empty, Page } from "../../components/parts.tsx";
import { t } from "../../core/text/i18n.ts";
import type { ViewProps } from "../../view.ts";
import { AboutPart } from "./about-part.tsx";
import { ConfigurationPart } from "./configuration-part.tsx";
import { GridSetsPart, StoresPart } from "./object-lists.tsx";
import { StoragePart } from "./storage-part.tsx";
import { TokensPart } from "./tokens-part.tsx";
import { UsersPart } from "./users-part.tsx";

const PARTS = {
  users: UsersPart,
  tokens: TokensPart,
  configuration: ConfigurationPart,
  gridSets: GridSetsPart,
  stores: StoresPart,
  storage: StoragePart,
  about: AboutPart,
} as const satisfies Readonly<Record<string, ComponentType>>;
type Part = keyof typeof PARTS;

const isPart = (name: string): name is Part => Object.hasOwn(PARTS, name);

/** The parts of the settings, each with an address such as `/settings/users`. The users are the first part. */
export function View({ segments: [name = "users"] }: ViewProps) {
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the list of parts scrolls.
    tabs.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [name]);
  if (!isPart(name)) return <Empty>{t("notFound")}</Empty>;
  const Shown = PARTS[name];
  return (
    <Page title={t("nav.settings")}>
      <nav ref={tabs} class="tabs" aria-label={t("settings.parts")}>
        {Object.keys(PARTS)
          .filter(isPart)
          .map((part) => (
            <Link key={part} to={`/settings/${part}`} current={part === name}>
              {t(`settings.${part}`)}
            </Link>
          ))}
      </nav>
      <Shown />
    </Page>
  );
}
