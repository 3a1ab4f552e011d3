import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { ownEnvironment } from './run.js'

/** What a client of a server sees that allows `LIMIT` requests. */
export interface Visit {
  readonly statuses: readonly number[]
  readonly limits: readonly (string | null)[]
  readonly remaining: readonly (string | null)[]
  /** In seconds from now. */
  readonly resets: readonly number[]
  readonly retryAfter: readonly (string | null)[]
  /** How the process ended after its server was closed, and what it wrote to stderr. */
  readonly end: { readonly code: number | null; readonly signal: string | null; readonly stderr: string }
}

/** The limit of all samples. */
export const LIMIT = 5

/** How long a process may take to start, to respond and to end. It is killed then. */
const PATIENCE_MS = 90_000

/** Has Node.js run a server, sends it one request more than it allows, and closes it. */
export async function visit(node: string, args: readonly string[], cwd: string): Promise<Visit> {
  const reporting = pathToFileURL(join(__dirname, 'hosts/report-port.mjs')).href
  const child = spawn(node, ['--trace-deprecation', '--import', reporting, ...args], {
    cwd,
    env: { ...ownEnvironment(), PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const stderr = text(child.stderr ?? Readable.from([]))
  const exit = once(child, 'exit') // 'close' is not emitted after disconnect()
  const ended = exit.then(async ([code]): Promise<never> => {
    throw new Error(`${args.join(' ')} ended with ${code}: ${await stderr}`)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  try {
    const [port] = await Promise.race([once(child, 'message'), ended])
    const responses = await sendAll(port)
    const of = (name: string) => responses.map(({ headers }) => headers.get(name))
    child.disconnect()
    const [code, signal] = await exit
    return {
      statuses: responses.map(({ status }) => status),
      limits: of('x-ratelimit-limit'),
      remaining: of('x-ratelimit-remaining'),
      resets: of('x-ratelimit-reset').map((time) => Number(time) - Date.now() / 1000),
      retryAfter: of('retry-after'),
      end: { code, signal, stderr: await stderr },
    }
  } finally {
    clearTimeout(timer)
    child.kill('SIGKILL')
  }
}

async function sendAll(port: number): Promise<Response[]> {
  const responses: Response[] = []
  while (responses.length <= LIMIT) {
    const response = await fetch(`http://127.0.0.1:${port}/`)
    await response.arrayBuffer()
    responses.push(response)
  }
  return responses
}
