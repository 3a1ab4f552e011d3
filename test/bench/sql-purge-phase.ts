/** How long charges waited in one phase, as medians over its slices. */
export interface Phase {
  readonly slices: number
  readonly medianMs: number
  readonly p99Ms: number
  /** Of the worst slice. */
  readonly worstP99Ms: number
}

/** From what each charge of each slice waited. */
export function phaseOf(slices: readonly (readonly number[])[]): Phase {
  const p99s = slices.map((waited) => quantile(waited, 0.99))
  return {
    slices: slices.length,
    medianMs: quantile(
      slices.map((waited) => quantile(waited, 0.5)),
      0.5,
    ),
    p99Ms: quantile(p99s, 0.5),
    worstP99Ms: Math.max(...p99s),
  }
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * values.length)] ?? Number.NaN
}
