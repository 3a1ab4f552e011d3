import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../support/servers/wait.js'
import { clients } from './clients.js'

const WORKERS = 200
const RAMP_MS = 500
const AFTER_DENIAL_MS = 400
const AT_MOST_MS = 60_000

/** An answer as a client saw it. */
export interface Seen {
  readonly client: string
  readonly method: 'GET' | 'POST'
  readonly status: number
  /** Where the decision came from. */
  readonly source: string
  /** When it was made, in milliseconds since the Unix epoch. */
  readonly decidedAtMs: number
  readonly tookMs: number
}

/** A steady 200 requests at a time. */
export interface Load {
  readonly seen: readonly Seen[]
  /** Requests that got no answer, and why. */
  readonly unanswered: readonly string[]
  /** Returns when no request is on its way. */
  rest(): Promise<void>
  goOn(): void
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly port: number
  /** A name that no run before had. */
  readonly run: string
  /** Every third request is a POST. */
  readonly posts: boolean
}

/** Workers that each send one request at a time, half of them for a few clients; at most for a minute. */
export function startLoad({ port, run, posts }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS })
  const { next } = clients(run)
  const seen: Seen[] = []
  const unanswered: string[] = []
  const untilMs = performance.now() + AT_MOST_MS
  let isOver = false
  let isResting = false
  let onTheirWay = 0
  let sent = 0

  async function work(_: unknown, i: number): Promise<void> {
    await pause((RAMP_MS * i) / WORKERS)
    while (!isOver && performance.now() < untilMs) {
      if (isResting) await pause(10)
      else if (!(await send())) await pause(AFTER_DENIAL_MS * (0.5 + Math.random()))
    }
  }

  /** Whether the request was let through. */
  function send(): Promise<boolean> {
    const client = next()
    const method = posts && sent++ % 3 === 0 ? 'POST' : 'GET'
    const fromMs = performance.now()
    onTheirWay++
    return new Promise((resolve) => {
      const req = request({ agent, host: '127.0.0.1', port, method, headers: { 'x-client': client } })
      req.once('error', (error) => {
        onTheirWay--
        unanswered.push(String(error))
        resolve(false)
      })
      req.once('response', (res: IncomingMessage) => {
        res.resume().once('end', () => {
          onTheirWay--
          const { statusCode: status = 0, headers } = res
          const decidedAtMs = Number(headers['x-decided-at'])
          const tookMs = performance.now() - fromMs
          seen.push({ client, method, status, source: String(headers['x-source']), decidedAtMs, tookMs })
          resolve(status === 200)
        })
      })
      req.end()
    })
  }

  const workers = Array.from({ length: WORKERS }, work)
  return {
    seen,
    unanswered,
    async rest() {
      isResting = true
      await until('no request is on its way', () => onTheirWay === 0)
    },
    goOn() {
      isResting = false
    },
    async stop() {
      isOver = true
      await Promise.all(workers)
      agent.destroy()
    },
  }
}
