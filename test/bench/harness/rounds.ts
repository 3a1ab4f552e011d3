import type { Usage } from './usage.js'

/** What was measured, by name: numbers only. */
type Figures<F> = { readonly [Name in keyof F]: number }

/** Runs one round of a contender. */
export type Round<F = Usage> = () => Promise<F>

/** Lets contenders take turns, so that whatever else the machine does hits all of them. Returns all rounds. */
export async function roundsInTurn<Name extends string, F>(
  contenders: Readonly<Record<Name, Round<F>>>,
  rounds: number,
): Promise<Record<Name, F[]>> {
  const names = Object.keys(contenders) as Name[]
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, F[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) measured[name].push(await contenders[name]())
  }
  return measured
}

/** Lets contenders take turns. Returns medians over the rounds. */
export async function takeTurns<Name extends string, F extends Figures<F> = Usage>(
  contenders: Readonly<Record<Name, Round<F>>>,
  rounds: number,
): Promise<Record<Name, F>> {
  return mediansOf(await roundsInTurn(contenders, rounds))
}

/** Returns the order of a round: no contender always goes first. */
export function rotated<T>(all: readonly T[], round: number): T[] {
  const first = round % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

export function mediansOf<Name extends string, F extends Figures<F>>(
  rounds: Readonly<Record<Name, readonly F[]>>,
): Record<Name, F> {
  const all = Object.entries<readonly F[]>(rounds)
  return Object.fromEntries(all.map(([name, each]) => [name, medians(each)])) as Record<Name, F>
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
