import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** What became of the requests of one client. */
export interface Counts {
  allowed: number
  denied: number
  /** How many connections were refused, since no process was listening. Nothing was sent. */
  refused: number
  /** How many requests may have been counted, but brought no response. */
  lost: number
}

const CALLERS_EACH = 2

/** Clients, each with an IP address, that send requests without a pause until they are told to stop. */
export class HammeringClients {
  readonly counts: readonly Counts[]
  readonly #port: number
  #calls: Promise<unknown> | undefined
  #isStopped = false

  constructor(clients: number, port: number) {
    this.counts = Array.from({ length: clients }, () => ({ allowed: 0, denied: 0, refused: 0, lost: 0 }))
    this.#port = port
  }

  start(): void {
    this.#calls = Promise.all(this.counts.map((counts, i) => this.#hammer(counts, `127.0.1.${i + 1}`)))
  }

  sum(name: keyof Counts): number {
    return this.counts.reduce((sum, counts) => sum + counts[name], 0)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#calls
  }

  async #hammer(counts: Counts, localAddress: string): Promise<void> {
    const agent = new Agent({ keepAlive: true, localAddress })
    const call = async () => {
      while (!this.#isStopped) {
        const outcome = await this.#request(agent)
        counts[outcome]++
        if (outcome === 'refused') await pause(10)
      }
    }
    await Promise.all(Array.from({ length: CALLERS_EACH }, call))
    agent.destroy()
  }

  #request(agent: Agent): Promise<keyof Counts> {
    return new Promise((resolve) => {
      const req = get({ host: '127.0.0.1', port: this.#port, agent }, (res) => {
        res.on('error', () => undefined).resume()
        const { statusCode = 0 } = res
        if (statusCode !== 200 && statusCode !== 429) throw new Error(`The status was ${statusCode}.`)
        res.on('close', () => resolve(statusCode === 200 ? 'allowed' : 'denied'))
      })
      req.on('error', ({ code }: NodeJS.ErrnoException) => {
        resolve(code === 'ECONNREFUSED' ? 'refused' : 'lost')
      })
    })
  }
}
