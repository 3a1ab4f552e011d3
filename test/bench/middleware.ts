import assert from 'node:assert/strict'
import { BenchRequest, BenchResponse, CLIENTS, type Middleware } from './contenders/bench-request.js'
import { type Headers, MIDDLEWARES, type MiddlewareName } from './contenders/middlewares.js'
import { type Round, takeTurns } from './harness/rounds.js'
import { printTable, ratio } from './harness/table.js'
import { measure, type Usage } from './harness/usage.js'

const ROUNDS = 7
const REQUESTS = 30_000
const GOAL_TIMES = 4
const NAMES = Object.keys(MIDDLEWARES) as MiddlewareName[]
const LIMITERS = NAMES.filter((name) => name !== 'empty')

/** One client's limit: never reached in a run, or used up by the first request. */
const LIMITS = { allowed: 10_000_000, denied: 1 }
type Outcome = keyof typeof LIMITS

/**
 * Each middleware on real requests and responses without a connection, less what the same costs around one
 * that only calls `next`, or only answers 429. A promise that a middleware gives is awaited. No garbage
 * collection is forced between rounds: it would throw away compiled code.
 */
export async function benchMiddleware(): Promise<void> {
  const rows: string[][] = []
  const allowedTimes = new Map<Headers, number>()
  for (const headers of ['legacy', 'both'] as const) {
    for (const outcome of ['allowed', 'denied'] as const) {
      const usages = await compare(headers, outcome)
      rows.push(...rowsOf(headers, outcome, usages))
      if (outcome === 'denied') continue
      const above = (name: MiddlewareName) => microsecondsAbove(usages, name, 'wallNs')
      allowedTimes.set(headers, above('express-rate-limit') / above('headgate'))
    }
  }
  printTable(
    `Middleware above an empty one: ${REQUESTS} requests a round from ${CLIENTS} clients, ${ROUNDS} rounds, medians`,
    ['contender', 'headers', 'outcome', 'µs', 'CPU µs', 'express-rate-limit /', 'rate-limiter-flexible /'],
    rows,
  )
  for (const [style, times] of allowedTimes) {
    const verdict = times >= GOAL_TIMES ? 'reached' : 'NOT reached'
    console.log(
      `\n  Goal, ${style} headers, allowed: at most 1/${GOAL_TIMES} of express-rate-limit: 1/${times.toFixed(2)}, ${verdict}`,
    )
  }
}

async function compare(headers: Headers, outcome: Outcome): Promise<Record<MiddlewareName, Usage>> {
  const contenders: [MiddlewareName, Round][] = []
  for (const name of NAMES) {
    const middleware = MIDDLEWARES[name](LIMITS[outcome], headers)
    const first = await serve(middleware, CLIENTS)
    assert.equal(
      first.passed,
      name === 'empty' && outcome === 'denied' ? 0 : CLIENTS,
      `${name}: first requests were denied`,
    )
    const round = () => measuredRound(name, middleware, outcome === 'allowed' ? REQUESTS : 0, headers)
    await round() // for the compiler
    contenders.push([name, round])
  }
  return takeTurns<MiddlewareName>(Object.fromEntries(contenders) as Record<MiddlewareName, Round>, ROUNDS)
}

async function measuredRound(
  name: MiddlewareName,
  middleware: Middleware,
  expected: number,
  headers: Headers,
): Promise<Usage> {
  const usage = measure()
  const { passed, denied, last } = await serve(middleware, REQUESTS)
  const used = usage()
  assert.equal(passed, expected, `${name}: the wrong number of requests passed`)
  assert.equal(passed + denied, REQUESTS, `${name}: passed and denied are not what was sent`)
  if (name !== 'empty') assertHeaders(name, last, headers, expected === 0)
  return used
}

/**
 * What was made last. A compiler that sees that an object is not kept makes none, and the empty run would
 * be too cheap.
 */
const kept: [BenchRequest, BenchResponse][] = []

/** Sends requests one after the other; a middleware that gives a promise is waited for. */
async function serve(middleware: Middleware, requests: number) {
  let passed = 0
  let denied = 0
  let last = new BenchResponse(new BenchRequest(0))
  const next = () => {
    passed++
  }
  for (let i = 0; i < requests; i++) {
    const req = new BenchRequest(i % CLIENTS)
    last = new BenchResponse(req)
    kept[i % 16] = [req, last]
    const waiting = middleware(req, last, next)
    if (waiting !== undefined) await waiting
    if (last.statusCode === 429 && last.writableEnded) denied++
  }
  return { passed, denied, last }
}

function assertHeaders(name: MiddlewareName, res: BenchResponse, headers: Headers, denied: boolean): void {
  const names = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
  if (headers === 'both') names.push('RateLimit', 'RateLimit-Policy')
  if (denied) names.push('Retry-After', 'Content-Type')
  const written = (res as unknown as { _header?: string })._header ?? '' // what writeHead wrote itself, hasHeader does not know
  for (const header of names) {
    const isThere = res.hasHeader(header) || written.includes(`\r\n${header}: `)
    assert.ok(isThere, `${name}: ${header} is missing`)
  }
}

function rowsOf(headers: Headers, outcome: Outcome, usages: Record<MiddlewareName, Usage>): string[][] {
  const above = (name: MiddlewareName, figure: keyof Usage) => microsecondsAbove(usages, name, figure)
  return LIMITERS.map((name) => {
    const against = (peer: MiddlewareName) =>
      name === 'headgate' ? ratio(above(name, 'wallNs'), above(peer, 'wallNs')) : '-'
    return [
      name,
      headers,
      outcome,
      above(name, 'wallNs').toFixed(2),
      above(name, 'cpuNs').toFixed(2),
      against('express-rate-limit'),
      against('rate-limiter-flexible'),
    ]
  })
}

function microsecondsAbove(
  usages: Record<MiddlewareName, Usage>,
  name: MiddlewareName,
  figure: keyof Usage,
): number {
  return (usages[name][figure] - usages.empty[figure]) / REQUESTS / 1000
}
