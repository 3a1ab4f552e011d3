import assert from 'node:assert/strict'
import { PATHS, REFUSERS, type RefuserName, RIGHT_LOGIN } from './contenders/refusers.js'
import { type Child, startChild } from './harness/child.js'
import { sendRequests } from './harness/http-load.js'
import { type Round, takeTurns } from './harness/rounds.js'
import type { Question } from './harness/server-child.js'
import { printTable, whole } from './harness/table.js'
import type { Usage } from './harness/usage.js'

const ROUNDS = 9
const REQUESTS = 1_000
const CONNECTIONS = 16
const HEAP_MB = 500
/** What a hostile request may cost at most, in normal ones. */
const GOAL = 3
const SERVERS = Object.keys(REFUSERS) as RefuserName[]

const HOSTILE_ACCEPT = `application/json${',*/*'.repeat(4_000)}`.slice(0, 15_500)
/** As long as an `Accept` may be for headgate to parse it. */
const PARSED_ACCEPT = HOSTILE_ACCEPT.slice(0, 300)
const COMMAS = ','.repeat(15_000)
const TINY_COOKIES = 'a=b; '.repeat(3_000).slice(0, -2)

/** Requests by name, each as it is sent, and the normal one that it is compared with. */
type Requests = Readonly<Record<string, { readonly text: string; readonly normal: string }>>
type Servers = Readonly<Record<RefuserName, { readonly child: Child; readonly port: number }>>

/** Compares the CPU that a server needs to deny requests with hostile headers, and normal ones. */
export async function benchHostileHeaders(): Promise<void> {
  const module = new URL('./hostile-headers-child.ts', import.meta.url)
  const children = SERVERS.map((name) => [name, startChild(module, [name], HEAP_MB)] as const)
  try {
    const started = children.map(async ([name, child]) => {
      return [name, { child, port: await child.ask<number>('port') }] as const
    })
    const servers = Object.fromEntries(await Promise.all(started)) as Servers
    const requests = requestsWith(await logIn(servers.headgate.port))
    print(requests, await compare(servers, requests))
  } finally {
    await Promise.all(children.map(([, child]) => child.end()))
  }
}

/** Logs in once; returns the device cookie as a browser sends it. */
async function logIn(port: number): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const url = `http://127.0.0.1:${port}${PATHS.login}`
  const { status, headers: answered } = await fetch(url, { method: 'POST', headers, body: RIGHT_LOGIN })
  const [cookie = ''] = answered.getSetCookie()
  assert.ok(status === 200 && cookie !== '', 'the login failed, or sets no cookie')
  return cookie.split(';', 1)[0] as string
}

function requestsWith(deviceCookie: string): Requests {
  const denied = 'denied'
  const loginDenied = 'login denied'
  return {
    [denied]: { text: get({ Accept: 'application/json' }), normal: denied },
    [`${denied}, Accept of 15.5 KB`]: { text: get({ Accept: HOSTILE_ACCEPT }), normal: denied },
    [`${denied}, Accept of 300 characters, parsed`]: { text: get({ Accept: PARSED_ACCEPT }), normal: denied },
    [`${denied}, 15,000 commas in X-Forwarded-For`]: {
      text: get({ 'X-Forwarded-For': COMMAS }),
      normal: denied,
    },
    [loginDenied]: { text: post({}), normal: loginDenied },
    [`${loginDenied}, 15 KB of cookies`]: { text: post({ Cookie: TINY_COOKIES }), normal: loginDenied },
    [`${loginDenied}, 15 KB of cookies and a known device`]: {
      text: post({ Cookie: `${TINY_COOKIES}; ${deviceCookie}` }),
      normal: loginDenied,
    },
    [`${loginDenied}, 15 KB of forged device cookies`]: {
      text: post({ Cookie: cookiesLike(deviceCookie) }),
      normal: loginDenied,
    },
  }
}

/** Empty cookies whose names begin as that of a device cookie does, each with another end. */
function cookiesLike(deviceCookie: string): string {
  const [name = ''] = deviceCookie.split('=')
  const names = Array.from({ length: 500 }, (_, i) => name.slice(0, -8) + String(i).padStart(8, '0'))
  return names.join('=;').slice(0, 15_000)
}

function get(headers: Readonly<Record<string, string>>): string {
  return request(`GET ${PATHS.limited}`, headers, '')
}

function post(headers: Readonly<Record<string, string>>): string {
  const body = 'username=ada&password=wrong'
  const type = 'application/x-www-form-urlencoded'
  const own = { Accept: '*/*', 'Content-Type': type, 'Content-Length': String(body.length) }
  return request(`POST ${PATHS.login}`, { ...own, ...headers }, body)
}

function request(target: string, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return [`${target} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

/** Sends each request to each server, in turns; results by `SERVER: REQUEST`. */
async function compare(servers: Servers, requests: Requests): Promise<Record<string, Usage>> {
  const contenders: [string, Round][] = []
  for (const server of SERVERS) {
    for (const [name, { text }] of Object.entries(requests)) {
      const { child, port } = servers[server]
      await sendRequests(port, REQUESTS, CONNECTIONS, text) // for the compiler, and until it is denied
      contenders.push([`${server}: ${name}`, () => measuredRound(child, port, text)])
    }
  }
  return takeTurns(Object.fromEntries(contenders), ROUNDS)
}

async function measuredRound(child: Child, port: number, text: string): Promise<Usage> {
  const cpuNs = () => child.ask<number>('cpuNs' satisfies Question)
  const before = await cpuNs()
  const start = process.hrtime.bigint()
  const statuses = await sendRequests(port, REQUESTS, CONNECTIONS, text)
  const wallNs = Number(process.hrtime.bigint() - start)
  assert.deepEqual(statuses, { 429: REQUESTS }, 'not every request was denied')
  return { wallNs, cpuNs: (await cpuNs()) - before }
}

function print(requests: Requests, usages: Record<string, Usage>): void {
  const cpuUs = (server: RefuserName, name: string) =>
    (usages[`${server}: ${name}`]?.cpuNs ?? Number.NaN) / REQUESTS / 1000
  const timesNormal = (server: RefuserName, name: string) =>
    cpuUs(server, name) / cpuUs(server, requests[name]?.normal ?? '')
  const figures = (server: RefuserName, name: string) => [
    cpuUs(server, name).toFixed(1),
    requests[name]?.normal === name ? '-' : `${timesNormal(server, name).toFixed(2)}x`,
  ]
  const names = Object.keys(requests)
  printTable(
    `Hostile headers: ${whole(REQUESTS)} denied requests a round on ${CONNECTIONS} connections, ${ROUNDS} rounds, medians of the server's CPU`,
    ['request', 'headgate µs', '/ normal', 'without headgate µs', '/ normal'],
    names.map((name) => [name, ...SERVERS.flatMap((server) => figures(server, name))]),
  )
  for (const name of names.filter((each) => requests[each]?.normal !== each)) {
    const times = timesNormal('headgate', name)
    const verdict = times <= GOAL ? 'reached' : 'NOT reached'
    console.log(`\n  Goal: ${name}: at most ${GOAL} times a normal one: ${times.toFixed(2)}x, ${verdict}`)
  }
}
