import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type SettingsDocument, sharedSettings } from 'headgate'
import { redisStore } from 'headgate/redis'
import { startChild } from '../../bench/harness/child.js'
import { connect } from '../../integration/redis/connect.js'
import { startRedis } from '../../support/servers/redis.js'
import type { Order, Report } from './follower-child.js'

const PROCESSES = 4
const HEAP_MB = 256
/** How long a process may take to follow. */
const DUE_MS = 2000
const MIN_LIMIT = 20
const MAX_LIMIT = 400
const LONGEST_FREEZE_MS = 3000

export interface Options {
  /** The path of `follower-child`, as this process can run it. */
  readonly program: string
  /** How often the limits are changed. */
  readonly changes: number
  /** Redis is frozen around one of so many changes. */
  readonly freezeEvery: number
  readonly seed: number
  readonly onProgress?: (line: string) => void
}

/** What a run has shown. */
export interface Outcome {
  readonly changes: number
  readonly freezes: number
  /** The longest time until a process followed, after the change or the thaw. */
  readonly slowestMs: number
  readonly medianMs: number
  /** Changes that a process has not followed in time. */
  readonly late: readonly string[]
  readonly admitted: number
  /** Clients of whom more was admitted than the larger one of the two limits. */
  readonly exceeded: readonly string[]
  /** Charges that the store could not decide, as while it was frozen. */
  readonly undecided: number
  /** Changes made by all processes at once, and those that are missing in the document. */
  readonly marks: number
  readonly lost: readonly string[]
  readonly failures: readonly string[]
}

/**
 * Runs four processes on Redis, and changes their limit under load, with Redis frozen in between. Each change
 * has its own client, which all processes charge before, during and after it, so that the sum of what was
 * admitted is at most the larger limit. Beside every second change, each process makes a change of its own.
 */
export async function runSettings({
  program,
  changes,
  freezeEvery,
  seed,
  onProgress,
}: Options): Promise<Outcome> {
  const random = randomOf(seed)
  const server = await startRedis({ own: true })
  const client = await connect(server.url)
  const settings = sharedSettings(redisStore(client))
  const children = Array.from({ length: PROCESSES }, () =>
    startChild(pathToFileURL(program), [server.url], HEAP_MB),
  )
  const askEach = (orderOf: (i: number) => Order) =>
    Promise.all(children.map((child, i) => child.ask<Report>(orderOf(i))))
  const ask = (order: Order = {}) => askEach(() => order)

  const change = (edit: (document: SettingsDocument) => SettingsDocument, reason: string) =>
    settings.change('api', edit, { by: 'the test', reason })
  const setLimit = (limit: number) =>
    change((document) => ({ ...document, limits: { api: { limit } } }), `limit ${limit}`)

  async function freeze(ms: number): Promise<number> {
    await server.kill('SIGSTOP')
    await pause(ms)
    await server.kill('SIGCONT')
    return Date.now()
  }

  const outcome = { freezes: 0, lags: [] as number[], late: [] as string[], admitted: 0 }
  const exceeded: string[] = []
  const marks: string[] = []
  let limit = MIN_LIMIT

  /** Waits until all processes have a limit and made their changes. Returns since when each has it. */
  async function followed(next: number): Promise<number[]> {
    for (let waited = 0; ; waited++) {
      const reports = await ask()
      const isDone = reports.every((report) => report.limit === next && report.pending === 0)
      if (isDone || waited > 1000)
        return reports.map((each) => (each.limit === next ? each.sinceMs : Infinity))
      await pause(20)
    }
  }

  async function changeOnce(i: number): Promise<void> {
    const next = otherThan(limit, () => MIN_LIMIT + Math.floor(random() * (MAX_LIMIT - MIN_LIMIT)))
    const name = `client-${i}`
    await ask({ client: name })
    await pause(50 + random() * 200)
    const isFrozen = i % freezeEvery === freezeEvery - 1
    const freezeMs = 200 + random() * (LONGEST_FREEZE_MS - 200)
    const isFrozenFirst = random() < 0.5
    const thawing = isFrozen && isFrozenFirst ? freeze(freezeMs) : undefined
    const changedAtMs = Date.now()
    const names = Array.from({ length: PROCESSES }, (_, process) => `${i}-${process}`)
    // A process that makes a change itself reads the document back. In the other half, all find it by polling.
    const isMarked = i % 2 === 0
    if (isMarked) marks.push(...names)
    const marking = isMarked ? askEach((process) => ({ mark: names[process] as string })) : undefined
    await setLimit(next)
    await marking
    const thawedAtMs = await (thawing ?? (isFrozen ? freeze(freezeMs) : 0))
    if (isFrozen) outcome.freezes++
    const sinceMs = await followed(next)
    for (const [process, atMs] of sinceMs.entries()) {
      const lagMs = Math.max(0, atMs - Math.max(changedAtMs, thawedAtMs))
      outcome.lags.push(lagMs)
      if (lagMs > DUE_MS) outcome.late.push(`process ${process}, change ${i}: ${lagMs} ms`)
    }
    await pause(100)
    await ask({ client: '' })
    await pause(150) // longer than a charge takes
    const reports = await ask({ count: name })
    const allowed = reports.reduce((sum, report) => sum + report.allowed, 0)
    outcome.admitted += allowed
    const most = Math.max(limit, next)
    if (allowed > most) exceeded.push(`${name}: ${allowed} of ${most} (from ${limit} to ${next})`)
    onProgress?.(`${i + 1} of ${changes}: from ${limit} to ${next}, admitted ${allowed}`)
    limit = next
  }

  try {
    await setLimit(limit)
    await followed(limit)
    for (let i = 0; i < changes; i++) await changeOnce(i)
    const { overrides } = await settings.read('api')
    const found = new Set(overrides.map(({ identity }) => identity))
    const reports = await ask()
    const lags = outcome.lags.toSorted((a, b) => a - b)
    return {
      changes,
      freezes: outcome.freezes,
      slowestMs: lags.at(-1) ?? 0,
      medianMs: lags[lags.length >> 1] ?? 0,
      late: outcome.late,
      admitted: outcome.admitted,
      exceeded,
      undecided: reports.reduce((sum, report) => sum + report.undecided, 0),
      marks: marks.length,
      lost: marks.filter((each) => !found.has(each)),
      failures: reports.flatMap((report) => report.failures),
    }
  } finally {
    await Promise.all(children.map((child) => child.end()))
    client.disconnect()
    await server.stop()
  }
}

function otherThan(limit: number, pick: () => number): number {
  for (;;) {
    const next = pick()
    if (next !== limit) return next
  }
}

/** Returns random numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
