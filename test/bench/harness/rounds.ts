import type { Usage } from './usage.js'

/** Runs one round of a contender. */
export type Round = () => Promise<Usage>

/** Lets contenders take turns, so that whatever else the machine does hits all of them; medians over the rounds. */
export async function takeTurns<Name extends string>(
  contenders: Readonly<Record<Name, Round>>,
  rounds: number,
): Promise<Record<Name, Usage>> {
  const names = Object.keys(contenders) as Name[]
  const usages = new Map<Name, Usage[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    const turn = round % names.length // nobody always goes first
    for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
      usages.get(name)?.push(await contenders[name]())
    }
  }
  return Object.fromEntries([...usages].map(([name, all]) => [name, medianUsage(all)])) as Record<Name, Usage>
}

function medianUsage(usages: readonly Usage[]): Usage {
  return {
    wallNs: median(usages.map(({ wallNs }) => wallNs)),
    cpuNs: median(usages.map(({ cpuNs }) => cpuNs)),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
