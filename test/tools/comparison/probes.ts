import { setTimeout as pause } from 'node:timers/promises'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { type Contender, closeLater, type Limit, type Send } from './contender.js'
import { heldBytes } from './held-bytes.js'

/** Gets the answer of a package that is set up. */
type Run = () => string | Promise<string>

/** A question that each package answers by a run; `–` if it makes no sense for the package. */
export interface Probe {
  readonly question: string
  /** Sets a package up. Where times matter, nothing else happens while packages run. */
  prepare(contender: Contender, redis: RedisServer): Run | Promise<Run>
  /** Whether the packages run in turns, because they share what is measured. */
  readonly inTurns?: boolean
}

const senseless: Run = () => '–'

const limitOf = (limit: number, windowMs: number, name = 'one'): Limit => ({ name, limit, windowMs })

/** Sets up a limiter, and sends the first request, which takes longest. */
async function warm(contender: Contender, limits: readonly [Limit, ...Limit[]], url: string): Promise<Send> {
  const send = await contender.limiter(limits, url)
  await send('198.51.100.1')
  return send
}

/** Waits until a window of the clock has just begun: packages with such windows then show the same each time. */
const beginWindow = (windowMs: number) => pause(windowMs - (Date.now() % windowMs) + 20)

/** Two limits, of which the narrow one denies five times: has the wide one counted that when it is free again? */
async function decideTogether(contender: Contender, { url }: RedisServer): Promise<Run> {
  if (!contender.denies) return senseless
  const pairs = [
    [limitOf(6, 60_000, 'wide'), limitOf(1, 1000, 'narrow')],
    [limitOf(3, 1500, 'wide'), limitOf(1, 2000, 'narrow')],
  ] as const
  const sends = await Promise.all(pairs.map((pair) => warm(contender, pair, url)))
  return async () => {
    const areFree = await Promise.all(pairs.map((pair, i) => isWideFree(pair, sends[i] as Send)))
    return areFree.every(Boolean) ? 'yes' : 'no'
  }
}

async function isWideFree([, narrow]: readonly [Limit, Limit], send: Send, attempt = 1): Promise<boolean> {
  const client = `203.0.113.${attempt}`
  await beginWindow(2000)
  const outcomes = [await send(client)]
  await pause(narrow.windowMs - 500)
  for (let i = 0; i < 5; i++) outcomes.push(await send(client))
  const isLate = outcomes.filter(({ allowed }) => allowed).length !== 1
  if (isLate && attempt < 5) return isWideFree([narrow, narrow], send, attempt + 1)
  if (isLate) throw new Error('The machine is too slow to send six requests in half a second.')
  await pause(800)
  return (await send(client)).allowed
}

/** Which addresses of IPv6 share a limit of one request. */
function shareNetwork(contender: Contender, { url }: RedisServer): Run {
  if (!contender.findsClients) return senseless
  return async () => {
    const neighbours = { '/48': '2001:db8:0:ff00::1', '/56': '2001:db8:0:ff::1', '/64': '2001:db8::2' }
    for (const [network, neighbour] of Object.entries(neighbours)) {
      const send = await contender.limiter([limitOf(1, 60_000)], url)
      await send('2001:db8::1')
      if (!(await send(neighbour)).allowed) return network
    }
    return 'no'
  }
}

/** How far the time that a denial states is from the time when the next request is allowed. */
async function stateTime(contender: Contender, { url }: RedisServer): Promise<Run> {
  if (!contender.denies) return senseless
  const send = await warm(contender, [limitOf(2, 2500)], url)
  return async () => {
    const client = '203.0.113.2'
    await beginWindow(2500)
    await send(client)
    await send(client)
    await pause(400)
    const { retryAfterMs = Number.NaN } = await send(client)
    const deniedAt = Date.now()
    while (!(await send(client)).allowed) await pause(10)
    const lateMs = retryAfterMs - (Date.now() - deniedAt)
    if (Math.abs(lateMs) < 250) return 'yes'
    return lateMs > 0 && lateMs < 1000 ? 'in seconds' : 'no'
  }
}

const WINDOW_MS = 3000

/** How many requests a client sends when the second window has begun: what it allows, or a slice of it. */
const BURSTS = [10, 1] as const

/** The most requests in the time of one window, by clients that wait for the right moment. */
async function burst(contender: Contender, { url }: RedisServer): Promise<Run> {
  const limit = limitOf(10, WINDOW_MS)
  const send = await warm(contender, [limit], url)
  const strict = await contender.strictest?.(limit)
  const most = async (by: Send) =>
    Math.max(...(await Promise.all(BURSTS.map((requests) => mostInAWindow(by, requests)))))
  return async () => {
    const [usual, least] = await Promise.all([most(send), strict && most(strict)])
    return least === undefined ? String(usual) : `${usual}; ${least} with \`slidingLog\``
  }
}

/** Tries again with another client if the machine was so slow that the client missed its moments. */
async function mostInAWindow(send: Send, burstSize: number, attempt = 1): Promise<number> {
  const client = `203.0.${attempt}.${burstSize}`
  const spans: (readonly [from: number, to: number])[] = []
  let lateMs = 0
  await beginWindow(WINDOW_MS)
  const begin = performance.now()
  const sendAt = async (ms: number, requests: number) => {
    await pause(begin + ms - performance.now())
    const trials = Array.from({ length: requests }, async () => {
      const from = performance.now()
      if ((await send(client)).allowed) spans.push([from, performance.now()])
    })
    await Promise.all(trials)
    lateMs = Math.max(lateMs, performance.now() - begin - ms)
  }
  await sendAt(0, 1)
  await sendAt(2500, 10)
  await sendAt(3150, burstSize)
  for (let ms = 3450; ms < 5400; ms += 300) await sendAt(ms, Math.min(burstSize, 2))
  const within = (since: number) =>
    spans.filter(([from, to]) => from >= since && to <= since + WINDOW_MS).length
  const most = Math.max(...spans.map(([from]) => within(from)))
  const canRepeat = lateMs > 100 && attempt < 5
  return canRepeat ? Math.max(most, await mostInAWindow(send, burstSize, attempt + 1)) : most
}

/** Whether memory stops growing with the number of clients: twice 5,000 more of them, after 1,000. */
function boundMemory({ memory }: Contender): Run {
  const count = memory?.()
  if (count === undefined) return senseless
  const countFrom = async (first: number, clients: number) => {
    const before = await heldBytes()
    await Promise.all(
      Array.from({ length: clients }, (_, i) => count(`10.0.${(first + i) >> 8}.${(first + i) & 255}`)),
    )
    return ((await heldBytes()) - before) / clients
  }
  return async () => {
    await countFrom(0, 1000)
    const bytesEach = [await countFrom(1000, 5000), await countFrom(6000, 5000)]
    return Math.min(...bytesEach) < 100 ? 'yes' : 'no'
  }
}

const TOO_LONG_MS = 6000

/** What a request gets whose Redis has stopped to reply. */
async function hangRedis({ onRedis }: Contender): Promise<Run> {
  if (onRedis === undefined) return senseless
  const redis = await startRedis({ own: true })
  closeLater(() => redis.stop())
  const send = await onRedis(redis.url)
  await send('203.0.113.4')
  await redis.kill('SIGSTOP')
  return async () => {
    const begin = performance.now()
    const response = send('203.0.113.4').then(
      ({ allowed }) => (allowed ? 'allowed' : 'denied'),
      () => 'fails',
    )
    const outcome = await Promise.race([response, pause(TOO_LONG_MS, 'waits')])
    if (outcome === 'waits') return outcome
    return `${outcome} after ${Number(((performance.now() - begin) / 1000).toPrecision(1))} s`
  }
}

/** What a limit means that is not a whole number. */
function takeLimit(limit: unknown): Probe['prepare'] {
  return (contender, { url }) =>
    async () => {
      let send: Send
      try {
        send = await contender.limiter([limitOf(limit as number, 60_000)], url)
      } catch {
        return 'rejected'
      }
      const outcomes = []
      try {
        for (let i = 0; i < 30; i++) outcomes.push(await send('203.0.113.5'))
      } catch {
        return 'requests fail'
      }
      const allowed = outcomes.filter((outcome) => outcome.allowed).length
      return allowed === 30 ? 'unlimited' : `allows ${allowed}`
    }
}

export const PROBES: readonly Probe[] = [
  { question: 'Several limits, all or nothing', prepare: decideTogether },
  { question: 'IPv6 network that counts as one client', prepare: shareNetwork },
  { question: 'Exact retry time', prepare: stateTime },
  { question: 'Most requests in one window, limit 10', prepare: burst },
  { question: 'Bounded memory', prepare: boundMemory, inTurns: true },
  { question: 'A request while Redis hangs', prepare: hangRedis },
  { question: "`limit: '10'`", prepare: takeLimit('10') },
  { question: '`limit: NaN`', prepare: takeLimit(Number.NaN) },
]
