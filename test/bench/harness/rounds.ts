import type { Usage } from './usage.js'

/** What was measured, by name: numbers only. */
type Figures<F> = { readonly [Name in keyof F]: number }

/** Runs one round of a contender. */
export type Round<F = Usage> = () => Promise<F>

/**
 * Lets contenders take turns, so that whatever else the machine does hits all of them; medians over the
 * rounds.
 */
export async function takeTurns<Name extends string, F extends Figures<F> = Usage>(
  contenders: Readonly<Record<Name, Round<F>>>,
  rounds: number,
): Promise<Record<Name, F>> {
  const names = Object.keys(contenders) as Name[]
  const measured = new Map<Name, F[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    const turn = round % names.length // nobody always goes first
    for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
      measured.get(name)?.push(await contenders[name]())
    }
  }
  return Object.fromEntries([...measured].map(([name, all]) => [name, medians(all)])) as Record<Name, F>
}

export function medians<F extends Figures<F>>(all: readonly F[]): F {
  const names = Object.keys(all[0] ?? {}) as (keyof F)[]
  return Object.fromEntries(names.map((name) => [name, median(all.map((figures) => figures[name]))])) as F
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
