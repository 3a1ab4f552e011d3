import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** A request of a client. */
export interface Sent {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The address that the proxy in front of the servers names. */
  readonly from: string
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: string
}

/** What became of the requests of a source. */
export interface Counts {
  sent: number
  allowed: number
  /** By status: 403 and 429. */
  denied: number
  /** Without a response, as while a server dies. */
  failed: number
}

/** A client, or several, that sends at an even rate. */
export interface Source {
  readonly counts: Counts
  stop(): Promise<void>
}

const TICK_MS = 50
/** The sources of decisions that the store did not make. */
const WITHOUT_STORE: ReadonlySet<string> = new Set(['local', 'fail-open', 'fail-closed'])

/** Sends requests to servers by turns, until each source is stopped, for at most `longestMs`. */
export function trafficTo(ports: readonly number[], longestMs: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const alive = new Set(ports)
  const timers = new Set<NodeJS.Timeout>()
  let turn = 0

  const answered = new Map<number, number>()
  const withoutStore = new Map<number, number>()
  const count = (counts: Map<number, number>, port: number) => counts.set(port, (counts.get(port) ?? 0) + 1)

  async function send({ method, path, from, headers, form }: Sent): Promise<number> {
    const targets = [...alive]
    const port = targets[turn++ % targets.length] ?? 0
    const type = form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }
    return new Promise((resolve, reject) => {
      const all = { ...headers, ...type, 'X-Forwarded-For': from }
      const sending = request({ host: '127.0.0.1', port, path, method, agent, headers: all }, (res) => {
        count(answered, port)
        if (WITHOUT_STORE.has(String(res.headers['x-source']))) count(withoutStore, port)
        text(res).then(() => resolve(res.statusCode ?? 0), reject)
      })
      sending.on('error', reject).end(form)
    })
  }

  /** Sends `perSecond` requests a second, the i-th of which is `next(i)`. */
  function start(perSecond: number, next: (i: number) => Sent): Source {
    const counts: Counts = { sent: 0, allowed: 0, denied: 0, failed: 0 }
    const pending = new Set<Promise<void>>()
    const startedMs = performance.now()

    function sendOne(): void {
      const sending = send(next(counts.sent++))
        .then((status) => {
          counts[isDenial(status) ? 'denied' : 'allowed']++
        })
        .catch(() => {
          counts.failed++
        })
        .finally(() => pending.delete(sending))
      pending.add(sending)
    }

    function catchUp(): void {
      const elapsedMs = performance.now() - startedMs
      if (elapsedMs > longestMs) clearInterval(timer)
      else while (counts.sent < (elapsedMs / 1000) * perSecond) sendOne()
    }

    const timer = setInterval(catchUp, TICK_MS)
    timers.add(timer)
    return {
      counts,
      async stop() {
        clearInterval(timer)
        await Promise.all(pending)
      },
    }
  }

  const probed: Counts = { sent: 0, allowed: 0, denied: 0, failed: 0 }

  /** Sends one request, and resolves with the status of its response. */
  async function probe(sent: Sent): Promise<number> {
    probed.sent++
    const status = await send(sent)
    probed[isDenial(status) ? 'denied' : 'allowed']++
    return status
  }

  return {
    start,
    probe,
    /** What became of the probes. */
    probed,
    /** How many responses came from a server, and of those, how many were decided without the store. */
    answeredBy: (port: number) => answered.get(port) ?? 0,
    decidedWithoutStore: (port: number) => withoutStore.get(port) ?? 0,
    /** Sends no more to a server, as a load balancer does once a server is dead. */
    leave: (port: number) => void alive.delete(port),
    /** Sends to a server again. */
    join: (port: number) => void alive.add(port),
    /** Ends all sources that were not stopped. */
    close() {
      for (const timer of timers) clearInterval(timer)
      agent.destroy()
    },
  }
}

function isDenial(status: number): boolean {
  return status === 429 || status === 403
}
