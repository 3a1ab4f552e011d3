import { STORES, type StoreName } from './contenders/stores.js'
import { type Child, startChild } from './harness/child.js'
import { keepPlot } from './harness/keep-plot.js'
import { barPlot } from './harness/plot.js'
import { takeTurns } from './harness/rounds.js'
import { printTable, ratio, whole } from './harness/table.js'
import type { Usage } from './harness/usage.js'

const KEY_COUNTS = [1_000, 100_000, 5_000_000]
const ROUNDS = 5
const DECISIONS = 400_000
const HEAP_MB = 6_000 // the peers need it for five million keys
const NAMES = (Object.keys(STORES) as StoreName[]).filter((name) => name !== 'headgate, sliding window') // has no equal

const GOAL = { keys: 100_000, times: 4 }

/**
 * The memory stores alone: each in its own process, in turns, with all keys charged before the first round.
 */
export async function benchMemory(): Promise<void> {
  const results: [keys: number, usages: Record<StoreName, Usage>][] = []
  for (const keys of KEY_COUNTS) results.push([keys, await compare(keys)])
  printTable(
    `Memory store alone: ${whole(DECISIONS)} decisions a round, ${ROUNDS} rounds, medians; peers' promises awaited one by one`,
    ['contender', 'keys', 'ns/decision', 'CPU ns', 'express-rate-limit /', 'rate-limiter-flexible /'],
    results.flatMap(([keys, usages]) => rowsOf(keys, usages)),
  )
  const at = results.find(([keys]) => keys === GOAL.keys)?.[1]
  if (at !== undefined) {
    const faster = Math.min(at['express-rate-limit'].wallNs, at['rate-limiter-flexible'].wallNs)
    const times = faster / at['headgate, token bucket'].wallNs
    const verdict = times >= GOAL.times ? 'reached' : 'NOT reached'
    console.log(
      `\n  Goal: at ${whole(GOAL.keys)} keys ${GOAL.times} times the faster peer: ${times.toFixed(2)}x, ${verdict}`,
    )
  }
  await keepPlot('memory', () =>
    barPlot({
      title: 'Memory store alone',
      unit: 'ns per decision, less is better',
      bars: results.flatMap(([keys, usages]) =>
        NAMES.map((label) => ({
          group: `${whole(keys)} keys`,
          label,
          value: usages[label].wallNs / DECISIONS,
        })),
      ),
    }),
  )
}

async function compare(keys: number): Promise<Record<StoreName, Usage>> {
  const module = new URL('./memory-child.ts', import.meta.url)
  const children = NAMES.map((name): [StoreName, Child] => [
    name,
    startChild(module, [name, String(keys)], HEAP_MB),
  ])
  try {
    await Promise.all(children.map(([, child]) => child.ask({ do: 'fill' })))
    for (const [, child] of children) await child.ask({ do: 'round', decisions: DECISIONS }) // for the compiler
    const contenders = children.map(([name, child]) => [
      name,
      () => child.ask<Usage>({ do: 'round', decisions: DECISIONS }),
    ])
    const usages = await takeTurns<StoreName>(Object.fromEntries(contenders), ROUNDS)
    for (const [, child] of children) await child.ask({ do: 'check' })
    return usages
  } finally {
    for (const [, child] of children) child.end()
  }
}

function rowsOf(keys: number, usages: Record<StoreName, Usage>): string[][] {
  return NAMES.map((name) => {
    const { wallNs, cpuNs } = usages[name]
    const against = (peer: StoreName) =>
      name.startsWith('headgate') ? ratio(wallNs, usages[peer].wallNs) : '-'
    const figures = [whole(keys), whole(wallNs / DECISIONS), whole(cpuNs / DECISIONS)]
    return [name, ...figures, against('express-rate-limit'), against('rate-limiter-flexible')]
  })
}
