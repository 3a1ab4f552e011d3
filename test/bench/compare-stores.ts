import assert from 'node:assert/strict'
import type { CallerUsage } from './callers.js'
import type { BenchServer } from './harness/bench-servers.js'
import { type Child, startChild } from './harness/child.js'
import { mediansOf, type Round, roundsInTurn } from './harness/rounds.js'
import { measureServer } from './harness/server-usage.js'
import type { Figures, Results } from './server-tables.js'
import type { TimedWorkload, Workloads } from './workloads.js'

const HEAP_MB = 1_000

/** Stores on one server. */
export interface Contest<Name extends string> extends BenchServer {
  readonly names: readonly Name[]
  /** The module that a contender's process runs (`callAsAsked`). */
  readonly child: URL
  /** How many requests a decision of a contender takes, where that is certain. */
  requestsPerDecision(name: Name, callers: number): number | undefined
  /** How many requests of its own the server may count in a round, where it counts such too. */
  readonly ownRequests?: number
}

/** Compares them under each workload. Returns medians. */
export async function compareStores<Name extends string>(
  contest: Contest<Name>,
  workloads: Workloads,
): Promise<Results<Name>> {
  return {
    'many keys': mediansOf(await measureStores(contest, workloads['many keys'])),
    'one key': mediansOf(await measureStores(contest, workloads['one key'])),
    'one caller': mediansOf(await measureStores(contest, workloads['one caller'])),
  }
}

/** Measures each in a process of its own with a client of its own, in turns. Returns all rounds. */
export async function measureStores<Name extends string>(
  contest: Contest<Name>,
  workload: TimedWorkload,
): Promise<Record<Name, Figures[]>> {
  const { warmUps, rounds: count } = workload
  await contest.empty()
  const args = [contest.url, JSON.stringify(workload)]
  const children = contest.names.map((name) => {
    return { name, child: startChild(contest.child, [name, ...args], HEAP_MB) }
  })
  try {
    for (let i = 0; i < warmUps; i++) {
      for (const { child } of children) {
        await child.ask({ do: 'prepare' })
        await child.ask({ do: 'round' }) // for the compiler, and to have all keys there
      }
    }
    const contenders = children.map(({ name, child }): [Name, Round<Figures>] => [
      name,
      () => measuredRound(contest, name, workload, child),
    ])
    const rounds = Object.fromEntries(contenders) as Record<Name, Round<Figures>>
    const results = await roundsInTurn<Name, Figures>(rounds, count)
    for (const { child } of children) await child.ask({ do: 'check' })
    return results
  } finally {
    await Promise.all(children.map(({ child }) => child.end()))
  }
}

async function measuredRound<Name extends string>(
  contest: Contest<Name>,
  name: Name,
  { callers, decisions }: TimedWorkload,
  child: Child,
): Promise<Figures> {
  await child.ask({ do: 'prepare' })
  const used = await measureServer(contest.usage)
  const figures = { ...(await child.ask<CallerUsage>({ do: 'round' })), ...(await used()) }
  const certain = contest.requestsPerDecision(name, callers)
  if (certain !== undefined) {
    const strays = figures.requests - certain * decisions
    assert.ok(
      strays >= 0 && strays <= (contest.ownRequests ?? 0),
      `${name}: not every decision took ${certain} requests, ${figures.requests} in all`,
    )
  }
  assert.ok(figures.requests >= decisions / callers, `${name}: decisions were made without the server`)
  return figures
}
