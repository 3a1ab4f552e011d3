import assert from 'node:assert/strict'
import { memoryStore, tokenBucket } from 'headgate'
import { chargeStore } from '../support/store-calls.js'
import { answerQuestions } from './harness/child.js'
import { collectGarbage } from './harness/usage.js'

const [addresses = 0, maxKeys = 0, limit = 0] = process.argv.slice(2).map(Number)
const LIMITED = 100
const NORMAL = 2_000
/** After this many addresses of the flood come one normal client, and one that is limited. */
const FLOOD_PER_CLIENT = 100

/** Requests, median, p99, p99.9 and the longest, in microseconds. */
type Latency = readonly number[]

export interface Flooded {
  readonly before: Latency
  readonly during: Latency
  readonly grownBytes: number
  readonly held: number
  /** What the limited client got that got the most. */
  readonly limitedAllowed: number
  readonly limitedDenied: number
}

const store = memoryStore({ maxKeys })
const policy = tokenBucket({ capacity: limit, refill: limit, every: '1d' })

/** Charges an address, under a key as long as those of a limiter are. */
function isAllowed(ip: string): boolean {
  const key = `hg:3:default:tb:{${ip}}`
  return chargeStore(store, [[{ key, policy, cost: 1 }]])[0]?.allowed === true
}

const normalIp = (i: number) => `198.51.${(i >> 8) & 255}.${i & 255}`
const limitedIp = (i: number) => `203.0.113.${i}`
/** Each in a /48 of its own. */
const floodIp = (i: number) => `2a02:${(i >>> 12).toString(16)}:${(i & 4095).toString(16)}::1`

/**
 * Charges normal clients, and gives how long each request took; between two of them comes something else.
 */
function chargeAll(requests: number, between: (i: number) => void): Latency {
  const micros = new Float64Array(requests)
  for (let i = 0; i < requests; i++) {
    const ip = normalIp(i % NORMAL)
    const startMs = performance.now()
    assert.ok(isAllowed(ip), 'a normal client was limited')
    micros[i] = (performance.now() - startMs) * 1000
    between(i)
  }
  micros.sort()
  return [
    requests,
    ...[0.5, 0.99, 0.999, 1].map((share) => micros[Math.ceil(share * requests) - 1] as number),
  ]
}

function flood(): Flooded {
  const allowed = new Uint32Array(LIMITED)
  let denied = 0
  const askLimited = (i: number) => {
    if (isAllowed(limitedIp(i % LIMITED))) allowed[i % LIMITED] = (allowed[i % LIMITED] as number) + 1
    else denied++
  }
  for (let i = 0; i < LIMITED * limit; i++) askLimited(i)
  chargeAll(NORMAL * 20, () => {}) // for the compiler
  const before = chargeAll(NORMAL * 20, () => {})
  collectGarbage()
  const residentBefore = process.memoryUsage.rss()
  let next = 0
  const during = chargeAll(addresses / FLOOD_PER_CLIENT, (i) => {
    for (let j = 0; j < FLOOD_PER_CLIENT; j++) isAllowed(floodIp(next++))
    askLimited(i)
  })
  const grownBytes = process.memoryUsage.rss() - residentBefore
  assert.equal(next, addresses)
  assert.equal(denied, addresses / FLOOD_PER_CLIENT, 'a limited client was let through')
  return {
    before,
    during,
    grownBytes,
    held: store.size,
    limitedAllowed: Math.max(...allowed),
    limitedDenied: denied,
  }
}

answerQuestions(flood)
