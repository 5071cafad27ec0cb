import { Action } from "../../components/dialogs/action.tsx";
import { undoAction } from "../../components/dialogs/undo-action.ts";
import { figure } from "../../core/model/stored.ts";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

interface TruncateLayerProps {
  readonly layer: string;
  /** The stored tiles of the layer. Undefined until they are loaded. */
  readonly use: Doc<"Usage">["layers"][number] | undefined;
  readonly isSmall?: boolean;
  readonly onDone?: () => void;
}

/** Above this number of tiles the user must type the name of the layer. */
const TYPED_TILES = 1_000_000;

/** Truncates a layer. The toast can undo it as long as the tiles are on the disk. */
export function TruncateLayer({ layer, use, isSmall = false, onDone }: TruncateLayerProps) {
  return (
    <Action<Doc<"Truncation">>
      label={t("layers.truncate")}
      title={t("layers.truncate.of", { layer })}
      kind="danger"
      isSmall={isSmall}
      disabled={use === undefined}
      request={{ method: "POST", path: "truncations", body: { layer } }}
      command={nuthatchCommand("truncate", layer)}
      confirm={{
        title: t("layers.truncate.of", { layer }),
        body: (
          <>
            <p>{t("layers.truncate.what", { count: use?.tiles ?? 0, size: bytes(use?.bytes ?? 0) })}</p>
            <Counting use={use} />
            <p class="soft">{t("layers.truncate.then")}</p>
          </>
        ),
        ...(use !== undefined && use.tiles > TYPED_TILES ? { typed: layer } : {}),
      }}
      done={(made) => ({
        text: t("layers.truncate.done", {
          layer,
          tiles: figure(count(made.tiles ?? use?.tiles ?? 0), made.tiles !== null),
        }),
        action: undoAction(made, t("truncations.back", { layer }), onDone),
      })}
      onDone={() => onDone?.()}
    />
  );
}

/** Makes all tiles of a layer expire. They are served until they are rendered again. */
export function MakeStale({ layer, use }: Pick<TruncateLayerProps, "layer" | "use">) {
  return (
    <Action<Doc<"Truncation">>
      label={t("layers.stale")}
      title={t("layers.stale.of", { layer })}
      request={{ method: "POST", path: "truncations", body: { layer, mode: "soft" } }}
      command={nuthatchCommand("truncate", layer, "--soft")}
      disabled={use === undefined}
      confirm={{
        title: t("layers.stale.of", { layer }),
        body: (
          <>
            <p>{t("layers.stale.what", { count: use?.tiles ?? 0 })}</p>
            <Counting use={use} />
          </>
        ),
      }}
      done={(made) => ({
        text: t("layers.stale.done", { layer }),
        action: undoAction(made, t("truncations.back", { layer })),
      })}
    />
  );
}

/** Says that the preceding number may be too low. */
const Counting = ({ use }: Pick<TruncateLayerProps, "use">) =>
  use === undefined || use.complete ? null : <p>{t("stillCounting")}</p>;
