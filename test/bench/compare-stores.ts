import assert from 'node:assert/strict'
import type { CallerUsage } from './callers.js'
import type { BenchServer } from './harness/bench-servers.js'
import { type Child, startChild } from './harness/child.js'
import { pinTo } from './harness/pin.js'
import { mediansOf, type Round, roundsInTurn } from './harness/rounds.js'
import { measureServer } from './harness/server-usage.js'
import type { Figures, Results } from './server-tables.js'
import type { TimedWorkload, Workloads } from './workloads.js'

const HEAP_MB = 1_000
/**
 * How long a contender runs before its first measured round, so that V8 compiles all that it calls. With many
 * functions, that takes several hundred thousand decisions, which a busy server makes in its first seconds.
 */
const WARM_UP_MS = 3_000

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

/** Measures each in its own process with its own client, in turns. Returns all rounds. */
export async function measureStores<Name extends string>(
  contest: Contest<Name>,
  workload: TimedWorkload,
): Promise<Record<Name, Figures[]>> {
  await contest.empty()
  const children = contest.names.map((name, i) => {
    // The keys of the others in the same table would slow each lookup.
    const url = contest.databaseUrl?.(i) ?? contest.url
    return { name, child: startChild(contest.child, [name, url, JSON.stringify(workload)], HEAP_MB) }
  })
  try {
    if (workload.callers === 1) pinApart(contest, children)
    for (const { child } of children) await warmUp(child)
    const contenders = children.map(({ name, child }): [Name, Round<Figures>] => [
      name,
      () => measuredRound(contest, name, workload, child),
    ])
    const rounds = Object.fromEntries(contenders) as Record<Name, Round<Figures>>
    const results = await roundsInTurn<Name, Figures>(rounds, workload.rounds)
    for (const { child } of children) await child.ask({ do: 'check' })
    return results
  } finally {
    await Promise.all(children.map(({ child }) => child.end()))
  }
}

/**
 * Gives the server one CPU and the clients another. If the scheduler runs both on one, a lone caller waits a
 * third as long, because no CPU has to be woken. No server on another machine is that near.
 */
function pinApart({ pid }: BenchServer, children: readonly { readonly child: Child }[]): void {
  pinTo(0, pid())
  for (const { child } of children) pinTo(1, child.process.pid)
}

async function warmUp(child: Child): Promise<void> {
  const endMs = performance.now() + WARM_UP_MS
  await child.ask({ do: 'warmUp' }) // it also makes the keys
  while (performance.now() < endMs) await unmeasuredRound(child)
}

async function unmeasuredRound(child: Child): Promise<void> {
  await child.ask({ do: 'prepare' })
  await child.ask({ do: 'round' })
}

/**
 * Measures a round, after one that is not measured: while the others had their turns, V8 shrank the heap of
 * this idle process, which it never does in a busy one.
 */
async function measuredRound<Name extends string>(
  contest: Contest<Name>,
  name: Name,
  { callers, decisions }: TimedWorkload,
  child: Child,
): Promise<Figures> {
  await unmeasuredRound(child)
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
