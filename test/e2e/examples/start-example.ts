import { spawn } from 'node:child_process'
import { type Agent, type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Bundle, bundle } from '../../support/servers/bundle.js'

/** An example in a process of its own, as a reader starts it. */
export interface Example {
  readonly url: string
  /** What it has printed so far. */
  readonly printed: { out: string; err: string }
  /** Sends SIGTERM, waits for the end, and gives the code it ended with; null where a signal ended it. */
  stop(): Promise<number | null>
}

/** How long an example may take to end after SIGTERM, before it gets SIGKILL. */
const KILL_AFTER_MS = 60_000

/** Starts an example. Where it has a dashboard, `makeBundle` is `bundleWithPage`. */
export async function startExample(
  entry: string,
  env: NodeJS.ProcessEnv = {},
  makeBundle: (entry: string) => Promise<Bundle> = bundle,
): Promise<Example> {
  const bundled = await makeBundle(entry)
  const child = spawn(process.execPath, [bundled.path], { env: { ...process.env, PORT: '0', ...env } })
  const printed = { out: '', err: '' }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    printed.err += chunk
  })
  const listening = new Promise<string | undefined>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      printed.out += chunk
      const [url] = /http:\/\/localhost:\d+/.exec(printed.out) ?? []
      if (url !== undefined) resolve(url)
    })
    ended.then(() => resolve(undefined))
  })
  const url = await listening
  const stop = () => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref()
    return endOf(ended, bundled)
  }
  if (url === undefined) throw new Error(`${entry} ended: ${printed.err}`, { cause: await stop() })
  return { url, printed, stop }
}

async function endOf(ended: Promise<number | null>, bundled: Bundle): Promise<number | null> {
  const code = await ended
  await bundled.remove()
  return code
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As they were sent: names and values by turns. */
  readonly rawHeaders: readonly string[]
  readonly body: string
  /** What a browser sends after it. */
  readonly cookies: Readonly<Record<string, string>>
  readonly tookMs: number
}

interface Asking {
  /** Sent as a form; makes it a POST. */
  readonly form?: string
  /** One of the loopback addresses: each is a visitor of its own. */
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly agent?: Agent
}

/** One request, on a connection of its own unless an agent is given. */
export function ask(
  url: string,
  { form, from = '127.0.0.1', headers = {}, agent }: Asking = {},
): Promise<Answer> {
  const { port, pathname } = new URL(url)
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        host: '127.0.0.1',
        port,
        path: pathname,
        localAddress: from,
        method: form === undefined ? 'GET' : 'POST',
        headers: { ...(form !== undefined && FORM), ...headers },
        agent: agent ?? false,
      },
      async (res) => {
        const body = await text(res)
        const cookies = Object.fromEntries((res.headers['set-cookie'] ?? []).map(pairOf))
        const { statusCode: status = 0, headers, rawHeaders } = res
        resolve({ status, headers, rawHeaders, body, cookies, tookMs: performance.now() - startedMs })
      },
    )
    asking.once('error', reject).end(form)
  })
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

function pairOf(setCookie: string): [name: string, value: string] {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(setCookie) ?? []
  return [name, value]
}
