import { count } from "../../core/text/format.ts";
import { type TextKey, t } from "../../core/text/i18n.ts";
import { SQUARE_COLOURS, type SquareState, type Squares } from "../../map/map-surface.ts";

const STATES: readonly { readonly state: SquareState; readonly label: TextKey; readonly mark: string }[] = [
  { state: "kept", label: "coverage.kept", mark: "" },
  { state: "stale", label: "coverage.stale", mark: "M0 16 L16 0" },
  { state: "failed", label: "coverage.failed", mark: "M0 16 L16 0 M0 0 L16 16" },
  { state: "drawing", label: "coverage.drawing", mark: "M12 8 a4 4 0 1 1 -8 0 a4 4 0 1 1 8 0" },
  { state: "evicted", label: "coverage.evicted", mark: "M4 8 L12 8" },
];

/** The meaning and the number of the visible squares. Each state has a pattern in addition to its colour. */
export function Legend({ squares, z }: { readonly squares: Squares | undefined; readonly z: number | undefined }) {
  return (
    <div class="row legend">
      <ul>
        {STATES.map(({ state, label, mark }) => (
          <li key={state}>
            <svg
              viewBox="0 0 16 16"
              class="square"
              style={{ color: `var(--${SQUARE_COLOURS[state]})` }}
              aria-hidden="true"
            >
              <rect width="16" height="16" />
              {mark !== "" && <path d={mark} />}
            </svg>
            {t(label)}
            {squares !== undefined && <span class="number soft">{count(squaresOf(squares[state]))}</span>}
          </li>
        ))}
      </ul>
      {squares !== undefined && z !== undefined && (
        <span class="soft">
          {squares.step === 1 ? t("coverage.tiles", { z: String(z) }) : t("coverage.cells", { z: String(z) })}
        </span>
      )}
    </div>
  );
}

/** Returns the number of squares in a run-length list, whose every second number is a run. */
const squaresOf = (runs: readonly number[]): number => runs.reduce((sum, run, n) => (n % 2 === 1 ? sum + run : sum), 0);
