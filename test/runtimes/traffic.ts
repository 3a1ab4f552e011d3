import { type Random, randomFrom } from '../tools/simulate/random.js'

/** What a client sees of a response. */
export interface Seen {
  readonly request: string
  /** When it was read, in seconds from the first request on. */
  readonly atSeconds: number
  readonly status: number
  /** All headers but those of the connection, with `*` for each time. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The times in headers and body, in seconds from the response on. */
  readonly seconds: readonly number[]
}

const REQUESTS = 200
const CLIENTS = 6
/** What a server adds for the connection. */
const OF_CONNECTION = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'])

/** Sends the same 200 requests to each server that serves `apps/limited.ts`, one after the other. */
export async function seenBy(url: string): Promise<Seen[]> {
  const random = randomFrom(47)
  const startedAtMs = performance.now()
  const seen: Seen[] = []
  for (let i = 0; i < REQUESTS; i++) {
    const [method, path, headers] = drawRequest(random)
    const sent = {
      'accept-encoding': 'identity',
      'x-client': `client-${drawFrom(random, CLIENTS)}`,
      ...headers,
    }
    const response = await fetch(url + path, { method, headers: sent })
    const read = await readResponse(response)
    const atSeconds = (performance.now() - startedAtMs) / 1000
    seen.push({ request: `${method} ${path} ${JSON.stringify(sent)}`, atSeconds, ...read })
  }
  return seen
}

type Drawn = readonly [method: 'GET' | 'POST', path: string, headers: Readonly<Record<string, string>>]

function drawRequest(random: Random): Drawn {
  const accept = random() < 0.5 ? 'application/json' : 'text/html'
  const drawn = random()
  if (drawn < 0.4) return ['GET', '/search', { accept }]
  if (drawn < 0.7) return ['POST', '/orders', { accept, 'x-items': `${drawFrom(random, 25)}` }]
  return ['GET', random() < 0.5 ? '/codes/right' : '/codes/wrong', { accept }]
}

const drawFrom = (random: Random, count: number) => Math.floor(random() * count)

async function readResponse(response: Response): Promise<Omit<Seen, 'request' | 'atSeconds'>> {
  const text = await response.text()
  const nowSeconds = Date.now() / 1000
  const seconds: number[] = []
  const withoutTimes = (name: string, value: string) =>
    value.replace(TIMES[name] ?? NONE, (time) => {
      const number = Number.parseInt(time, 10)
      seconds.push(name === 'x-ratelimit-reset' ? number - nowSeconds : number)
      return '*'
    })
  const compared = Array.from(response.headers).filter(([name]) => !OF_CONNECTION.has(name))
  const headers = Object.fromEntries(compared.map(([name, value]) => [name, withoutTimes(name, value)]))
  return { status: response.status, headers, body: withoutTimes('body', text), seconds }
}

/** Where the body and each header have times. */
const TIMES: Readonly<Record<string, RegExp>> = {
  'retry-after': /^\d+$/,
  'x-ratelimit-reset': /^\d+$/,
  ratelimit: /(?<=;t=)\d+/g,
  /** With the unit: one second may be two in another run. */
  body: /(?<=Try again in )\d+ seconds?/,
}
const NONE = /(?!)/
