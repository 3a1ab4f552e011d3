import { setTimeout as pause } from 'node:timers/promises'
import { exponential, randomFrom } from '../simulate/random.js'
import { connectionsTo } from './connections.js'
import { type LoadOutcome, outcomeCounter } from './outcome.js'
import { type LiveScenario, SERVER_KINDS, type Sender } from './scenario.js'

/** More connections than any guard needs, and fewer than a process may have files. */
const MAX_CONNECTIONS = 2000
const PROXY_CONNECTIONS = 512
/** For the server to accept the connections of a proxy. */
const OPENING_MS = 200
const CLIENTS = 1000

/**
 * Sends a scenario's requests at random times (a Poisson process), whether or not earlier ones were answered.
 * Clients that try again send one request more. Latencies count from the sending. Resolves once every request
 * has ended: after the last one has waited.
 */
export async function sendLoad(
  port: number,
  scenario: LiveScenario,
  seconds: number,
  seed: number,
): Promise<LoadOutcome> {
  const random = randomFrom(seed)
  const { isProxied = false, work } = scenario
  const { capacity, patienceMs } = SERVER_KINDS[work]
  const durationMs = seconds * 1000
  const most = isProxied ? PROXY_CONNECTIONS : MAX_CONNECTIONS
  const connections = connectionsTo({ port, most, patienceMs, isProxied })
  if (isProxied) await pause(OPENING_MS)
  const counter = outcomeCounter(seconds)
  const maxRate = scenario.maxTimes * capacity
  const startedAtMs = performance.now()
  let dueAtMs = exponential(random, maxRate)
  let pending = 0

  function sendDue(elapsedMs: number): void {
    for (; dueAtMs <= elapsedMs && dueAtMs < durationMs; dueAtMs += exponential(random, maxRate)) {
      const share = dueAtMs / durationMs
      const times = scenario.timesAt?.(share) ?? scenario.maxTimes
      if (random() * scenario.maxTimes < times) send(senderAt(share), dueAtMs, elapsedMs - dueAtMs)
    }
  }

  function senderAt(share: number): Sender {
    const client = Math.floor(random() * CLIENTS)
    return { client, priority: 'default', ...scenario.senderAt?.(share, random) }
  }

  function send(sender: Sender, atMs: number, lagMs: number, attempt = 0): void {
    pending++
    counter.sent(sender, atMs, lagMs)
    connections.send(textOf(sender), (status, tookMs) => {
      pending--
      counter.ended(sender, atMs, status, tookMs)
      if (status !== 200) retry(sender, attempt)
    })
  }

  function retry(sender: Sender, attempt: number): void {
    const afterMs = scenario.retryAfterMs?.(attempt, random)
    if (afterMs === undefined) return
    const atMs = performance.now() - startedAtMs + afterMs
    if (atMs >= durationMs) return
    pending++
    setTimeout(() => {
      pending--
      send(sender, atMs, 0, attempt + 1)
    }, afterMs)
  }

  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - startedAtMs
      sendDue(elapsedMs)
      if (elapsedMs < durationMs || pending > 0) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  connections.close()
  return counter.outcome()
}

function textOf({ client, priority, tenant, path = '/' }: Sender): string {
  const named = tenant === undefined ? '' : `X-Tenant: ${tenant}\r\n`
  const sentAtMs = performance.timeOrigin + performance.now()
  return (
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Client: ${client}\r\nX-Priority: ${priority}\r\n` +
    `X-Sent: ${sentAtMs}\r\n${named}\r\n`
  )
}
