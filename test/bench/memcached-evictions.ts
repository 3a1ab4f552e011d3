import assert from 'node:assert/strict'
import type { Policy } from 'headgate'
import { startMemcached } from '../support/servers/memcached.js'
import { longWindow, slowBucket } from './contenders/server-contender.js'
import { readStats } from './harness/memcached-usage.js'
import { printTable, whole } from './harness/table.js'
import { CLIENTS, type Flood, flood, OTHERS, type Tally, TOGETHER } from './memcached-flood.js'

const MEMORY_MB = 20
/** Of one digit, so that a counter at its limit needs a longer item to be counted on. */
const LIMIT = 9

/** A sliding window has counters like a fixed one, and would take most of the time. */
const POLICIES: Readonly<Record<string, Policy>> = {
  'token bucket': slowBucket(LIMIT),
  'fixed window': longWindow(LIMIT),
}

interface Case {
  readonly name: string
  /** memcached runs with `-M`: it evicts nothing, and answers "out of memory" when it is full. */
  readonly isKept: boolean
  readonly isActive: boolean
}

const CASES: readonly Case[] = [
  { name: 'silent meanwhile', isKept: false, isActive: false },
  { name: 'still sending', isKept: false, isActive: true },
  { name: 'silent meanwhile, -M', isKept: true, isActive: false },
  { name: 'still sending, -M', isKept: true, isActive: true },
]

interface Outcome extends Flood {
  readonly evictions: number
}

/** How many clients that are at their limit are still limited when others have flooded a small memcached. */
export async function benchMemcachedEvictions(): Promise<void> {
  const limited: string[][] = []
  const answers: string[][] = []
  for (const each of CASES) {
    const outcomes = await outcomesOf(each)
    limited.push([each.name, ...outcomes.map((outcome) => whole(outcome.limited))])
    for (const [i, policy] of Object.keys(POLICIES).entries()) {
      answers.push([`${each.name}: ${policy}`, ...figuresOf(outcomes[i] as Outcome)])
    }
  }
  const title = `memcached -m ${MEMORY_MB}, when ${whole(OTHERS)} others were charged once each`
  printTable(
    `${title}: of ${CLIENTS} clients at their limit still limited`,
    ['', ...Object.keys(POLICIES)],
    limited,
  )
  const head = ['others allowed', 'out of memory', 'clients allowed', 'denied', 'out of memory', 'evictions']
  printTable(`${title}: all outcomes`, ['', ...head], answers)
}

async function outcomesOf({ name, isKept, isActive }: Case): Promise<Outcome[]> {
  const args = ['-m', String(MEMORY_MB), ...(isKept ? ['-M'] : [])]
  const server = await startMemcached({ own: true, args })
  try {
    const outcomes: Outcome[] = []
    for (const [policyName, policy] of Object.entries(POLICIES)) {
      await server.restart()
      const flooded = await flood(server.url, policy, isActive)
      const outcome = { ...flooded, evictions: Number((await readStats(server)).get('evictions')) }
      check(`${name}: ${policyName}`, outcome, { isKept, isActive })
      outcomes.push(outcome)
    }
    return outcomes
  } finally {
    await server.stop()
  }
}

function check(
  name: string,
  { asks, others, evictions }: Outcome,
  { isKept, isActive }: Pick<Case, 'isKept' | 'isActive'>,
): void {
  assert.equal(answersIn(others), OTHERS, `${name}: not every charge was answered`)
  assert.equal(others.denied, 0, `${name}: somebody was denied at once`)
  assert.equal(
    answersIn(asks),
    CLIENTS * (isActive ? OTHERS / TOGETHER : 1),
    `${name}: not every client was answered`,
  )
  if (isKept) assert.ok(evictions === 0 && others.refused > 0, `${name}: ${evictions} evictions with -M`)
  else assert.ok(evictions > 0 && others.refused === 0, `${name}: ${evictions} evictions`)
}

function answersIn({ allowed, denied, refused }: Tally): number {
  return allowed + denied + refused
}

function figuresOf({ others, asks, evictions }: Outcome): string[] {
  return [others.allowed, others.refused, asks.allowed, asks.denied, asks.refused, evictions].map(whole)
}
