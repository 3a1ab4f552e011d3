import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { printTable, whole } from './harness/table.js'

const HOURS = 5
/** The clients are of so many kinds: kind k sends k + 2 requests in one second of each hour. */
const KINDS = 17
const CLIENTS_OF_KIND = 6000
const CLIENTS = KINDS * CLIENTS_OF_KIND
const LIMIT = 6
const START_MS = Date.UTC(2026, 10, 24)

const MIN_LINES_PER_SECOND = 300_000
const MAX_MB = 300

/** Within a second all policies admit `LIMIT`, and an hour later all have forgotten it. */
const POLICIES = ['token-bucket', 'sliding-window', 'fixed-window', 'first-request']

type Format = 'combined' | 'JSON lines'

/** How fast `headgate replay` reads a log whose denials are known, and in how much memory. */
export async function benchReplay(): Promise<void> {
  const rows: string[][] = []
  for (const format of ['combined', 'JSON lines'] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-replay-'))
    try {
      const log = join(folder, 'access.log')
      await writeLog(log, format)
      const policies = format === 'combined' ? POLICIES : POLICIES.slice(0, 1)
      for (const policy of policies) rows.push(await measureReplay(log, format, policy))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  const { lines } = ANSWER
  printTable(
    `headgate replay of ${whole(lines)} lines by ${whole(CLIENTS)} clients, one run each, with the start of the process; ` +
      `at least ${whole(MIN_LINES_PER_SECOND)} lines a second, under ${MAX_MB} MB`,
    ['log', 'policy', 'GB', 'lines/s', 'CPU s', 'MB resident', 'goals'],
    rows,
  )
}

/** What each run must find. */
const ANSWER = (() => {
  const sent = Array.from({ length: KINDS }, (_, kind) => kind + 2)
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
  const denied = sent.map((requests) => Math.max(0, requests - LIMIT))
  return {
    lines: HOURS * CLIENTS_OF_KIND * sum(sent),
    denied: HOURS * CLIENTS_OF_KIND * sum(denied),
    deniedClients: CLIENTS_OF_KIND * denied.filter((each) => each > 0).length,
  }
})()

async function writeLog(path: string, format: Format): Promise<void> {
  const out = createWriteStream(path)
  const finished = once(out, 'finish')
  let text: string[] = []
  for (let second = 0; second < 3600 * HOURS; second++) {
    const first = Math.ceil((CLIENTS * (second % 3600)) / 3600)
    const end = Math.ceil((CLIENTS * ((second % 3600) + 1)) / 3600)
    const iso = new Date(START_MS + 1000 * second).toISOString()
    // The requests of clients alternate.
    for (let round = 0; round < KINDS + 1; round++) {
      for (let client = first; client < end; client++)
        if (round < 2 + (client % KINDS)) text.push(lineOf(client, iso, format))
    }
    if (text.length < 10_000) continue
    if (!out.write(text.join(''))) await once(out, 'drain')
    text = []
  }
  out.end(text.join(''))
  await finished
}

const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

function lineOf(client: number, iso: string, format: Format): string {
  const address = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`
  const path = `/api/items/${client % 1000}?page=2`
  if (format === 'combined') {
    const time = `24/Nov/2026:${iso.slice(11, 19)} +0000`
    return `${address} - - [${time}] "GET ${path} HTTP/1.1" 200 2326 "https://shop.example/start" "${AGENT}"\n`
  }
  return `{"time_iso8601":"${iso}","remote_addr":"${address}","request":"GET ${path} HTTP/1.1","status":200,"http_user_agent":"${AGENT}"}\n`
}

const COMMAND = fileURLToPath(new URL('../../dist/esm/cli.js', import.meta.url))
const PRINT_USAGE =
  'data:text/javascript,process.on("exit",()=>console.error(JSON.stringify(process.resourceUsage())))'

async function measureReplay(log: string, format: Format, policy: string): Promise<string[]> {
  const canSuggest = policy === 'fixed-window' || policy === 'first-request'
  const options = [
    '--limit',
    `${LIMIT}`,
    '--window',
    '1m',
    '--policy',
    policy,
    '--trust-proxy',
    'none',
    '--json',
  ]
  const args = [
    '--import',
    PRINT_USAGE,
    COMMAND,
    'replay',
    log,
    ...options,
    ...(canSuggest ? ['--suggest'] : []),
  ]
  const startMs = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const seconds = (performance.now() - startMs) / 1000
  checkAnswer(JSON.parse(stdout), canSuggest)
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(stderr) as NodeJS.ResourceUsage
  const perSecond = ANSWER.lines / seconds
  const megabytes = (maxRSS * 1024) / 1e6
  const isReached = perSecond >= MIN_LINES_PER_SECOND && megabytes < MAX_MB
  return [
    format,
    canSuggest ? `${policy}, --suggest` : policy,
    (statSync(log).size / 1e9).toFixed(2),
    whole(perSecond),
    ((userCPUTime + systemCPUTime) / 1e6).toFixed(2),
    whole(megabytes),
    isReached ? 'reached' : 'NOT reached',
  ]
}

interface Found {
  readonly lines: number
  readonly requests: number
  readonly clients: number
  readonly limits: readonly { readonly denied: { readonly requests: number; readonly clients: number } }[]
  readonly suggestions?: Readonly<Record<'requests' | 'clients', readonly { readonly limit: number }[]>>
}

function checkAnswer({ lines, requests, clients, limits, suggestions }: Found, canSuggest: boolean): void {
  const denied = limits[0]?.denied
  assert.deepEqual([lines, requests, clients], [ANSWER.lines, ANSWER.lines, CLIENTS], 'lines were miscounted')
  assert.deepEqual(
    [denied?.requests, denied?.clients],
    [ANSWER.denied, ANSWER.deniedClients],
    'denials were miscounted',
  )
  if (!canSuggest) return
  const limitsOf = (what: 'requests' | 'clients') => suggestions?.[what].map(({ limit }) => limit)
  // A limit of 17 denies one of 18 requests of the busiest kind: 0.6 % of all requests, 6 % of the clients.
  assert.deepEqual(
    [limitsOf('requests'), limitsOf('clients')],
    [
      [18, 18, 17],
      [18, 18, 18],
    ],
    'a suggestion is wrong',
  )
}
