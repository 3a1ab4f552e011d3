import assert from 'node:assert/strict'
import type { CallerUsage } from './callers.js'
import { startChild } from './harness/child.js'
import { type Round, takeTurns } from './harness/rounds.js'
import { measureServer, type ServerUsage } from './harness/server-usage.js'
import type { Figures, Results } from './server-tables.js'
import type { WorkloadName, Workloads } from './workloads.js'

const HEAP_MB = 1_000

/** Stores on one server, and what a comparison needs to do with the server. */
export interface Contest<Name extends string> {
  readonly names: readonly Name[]
  readonly workloads: Workloads
  /** The module that a contender's process runs (`callAsAsked`). */
  readonly child: URL
  readonly url: string
  /** Removes all that the server holds. */
  empty(): Promise<unknown>
  /** What the server has done so far. */
  usage(): Promise<ServerUsage>
  /** How many requests a decision of a contender takes, where that is certain. */
  requestsPerDecision(name: Name, callers: number): number | undefined
  /** How many requests of its own the server may count in a round, where it counts such too. */
  readonly ownRequests?: number
}

/** Compares them under each workload: each in a process of its own with a client of its own, in turns. */
export async function compareStores<Name extends string>(contest: Contest<Name>): Promise<Results<Name>> {
  return {
    'many keys': await compare(contest, 'many keys'),
    'one key': await compare(contest, 'one key'),
    'one caller': await compare(contest, 'one caller'),
  }
}

async function compare<Name extends string>(
  contest: Contest<Name>,
  workload: WorkloadName,
): Promise<Record<Name, Figures>> {
  const { warmUps, rounds: count } = contest.workloads[workload]
  await contest.empty()
  const args = [contest.url, JSON.stringify(contest.workloads[workload])]
  const children = contest.names.map((name) => {
    return { name, child: startChild(contest.child, [name, ...args], HEAP_MB) }
  })
  try {
    for (let i = 0; i < warmUps; i++) {
      for (const { child } of children) await child.ask({ do: 'round' }) // for the compiler, and to have all keys there
    }
    const contenders = children.map(({ name, child }): [Name, Round<Figures>] => [
      name,
      () => measuredRound(contest, name, workload, () => child.ask<CallerUsage>({ do: 'round' })),
    ])
    const rounds = Object.fromEntries(contenders) as Record<Name, Round<Figures>>
    const results = await takeTurns<Name, Figures>(rounds, count)
    for (const { child } of children) await child.ask({ do: 'check' })
    return results
  } finally {
    await Promise.all(children.map(({ child }) => child.end()))
  }
}

async function measuredRound<Name extends string>(
  contest: Contest<Name>,
  name: Name,
  workload: WorkloadName,
  round: () => Promise<CallerUsage>,
): Promise<Figures> {
  const { callers, decisions } = contest.workloads[workload]
  const used = await measureServer(contest.usage)
  const figures = { ...(await round()), ...(await used()) }
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
