import assert from 'node:assert/strict'
import { startMemcached } from '../support/servers/memcached.js'
import { startChild } from './harness/child.js'
import { printTable, whole } from './harness/table.js'
import type { StormQuestion } from './memcached-storm-child.js'
import { addUp, decisionsIn, mostAllowed, type Storm, type StormCounts } from './memcached-storm-counts.js'

const PROCESSES = 8
const HEAP_MB = 200
const MOST_RAN_OUT = 0.01

/** Below the demand, and high enough that the bucket is written all the time. */
const STORMS: Readonly<Record<string, Storm>> = {
  'a token each 0.1 ms': { capacity: 1000, refill: 10_000, everyMs: 1000, callers: 50, forMs: 10_000 },
  'a token each 10 ms': { capacity: 100, refill: 100, everyMs: 1000, callers: 50, forMs: 10_000 },
  'one caller each': { capacity: 1000, refill: 100_000, everyMs: 1000, callers: 1, forMs: 10_000 },
}

/**
 * Eight processes race for one token bucket: never over its limit, and few charges whose attempts run out.
 */
export async function benchMemcachedStorm(): Promise<void> {
  const server = await startMemcached({ own: true })
  try {
    const rows: string[][] = []
    for (const [name, storm] of Object.entries(STORMS)) {
      const counts = await rage(server.url, { key: name.replaceAll(' ', '-'), ...storm })
      check(name, storm, counts)
      rows.push(rowOf(name, storm, counts))
    }
    const head = ['storm', 'decisions', 'allowed', 'at most', 'denied', 'ran out', 'share']
    printTable(`${PROCESSES} processes on one token bucket in memcached, for ten seconds each`, head, rows)
  } finally {
    await server.stop()
  }
}

async function rage(url: string, question: StormQuestion): Promise<StormCounts> {
  const module = new URL('./memcached-storm-child.ts', import.meta.url)
  const children = Array.from({ length: PROCESSES }, () => startChild(module, [url], HEAP_MB))
  try {
    await Promise.all(children.map((child) => child.ask({ ...question, forMs: 0 }))) // all are there
    return addUp(await Promise.all(children.map((child) => child.ask<StormCounts>(question))))
  } finally {
    for (const child of children) child.end()
  }
}

function check(name: string, storm: Storm, counts: StormCounts): void {
  const most = mostAllowed(storm, counts)
  assert.ok(counts.allowed > 0 && counts.allowed <= most, `${name}: ${counts.allowed} allowed of ${most}`)
  assert.ok(shareOf(counts) <= MOST_RAN_OUT, `${name}: attempts ran out in ${shareOf(counts)} of all`)
}

function shareOf(counts: StormCounts): number {
  return counts.ranOut / decisionsIn(counts)
}

function rowOf(name: string, storm: Storm, counts: StormCounts): string[] {
  const { allowed, denied, ranOut } = counts
  const figures = [decisionsIn(counts), allowed, mostAllowed(storm, counts), denied, ranOut].map(whole)
  return [name, ...figures, `${(100 * shareOf(counts)).toFixed(3)} %`]
}
