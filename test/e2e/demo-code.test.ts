/** The code that the demo's page shows and copies. docs/code-blocks.test.ts runs each example by itself. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { memoryStore } from 'headgate'
import { demoApp } from '../../examples/demo/app.js'
import { readSnippets } from '../../examples/demo/code.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { type RedisServer, startRedis } from '../support/servers/redis.js'
import { until } from '../support/servers/wait.js'
import { EXAMPLES, POLICIES } from './demo-examples.js'
import { ask, type Example, startExample } from './examples/start-example.js'

const ROOT = join(__dirname, '../..')

/** Lets a program listen on free ports, and print their addresses in turn. */
const ON_FREE_PORTS = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function () {
  return listen.call(this, 0, () => console.log('http://localhost:' + this.address().port))
}`

let folder: string
let redis: RedisServer
/** All examples, unchanged, in one process. */
let program: Example
let urls: Record<string, string>

beforeAll(async () => {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.cache/demo-code-'))
  redis = await startRedis({ own: true })
  // This checkout's says that its modules have no side effects: they would be left out.
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const snippets = await readSnippets()
  for (const name of EXAMPLES) writeFileSync(join(folder, `${name}.js`), snippets[name] ?? '')
  const all = join(folder, 'all.js')
  writeFileSync(all, EXAMPLES.map((name) => `import './${name}.js'\n`).join(''))
  const preload = `data:text/javascript,${encodeURIComponent(ON_FREE_PORTS)}`
  program = await startExample(all, { REDIS_URL: redis.url, NODE_OPTIONS: `--import=${preload}` })
  const printed = await until('all examples listen', () => {
    const found: string[] = program.printed.out.match(/http:\S+/g) ?? []
    return found.length === EXAMPLES.length ? found : undefined
  })
  urls = Object.fromEntries(EXAMPLES.map((name, i) => [name, printed[i] as string]))
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await program?.stop()
  await redis?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Sends requests at the same time; gives their statuses. */
const statusesOf = (url: string, requests: number) =>
  Promise.all(Array.from({ length: requests }, async () => (await ask(url)).status))

test('the demo serves these examples, and no others', async () => {
  const server = demoApp(memoryStore()).listen(0, '127.0.0.1')
  try {
    await until('the demo listens', () => server.listening)
    const { port } = server.address() as AddressInfo
    const served = (await (await fetch(`http://127.0.0.1:${port}/code`)).json()) as Record<string, string>
    expect(Object.keys(served)).toEqual(EXAMPLES)
    expect(served).toEqual(await readSnippets())
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})

test.each(POLICIES)('%s allows ten requests at once, and denies others', async (name) => {
  const url = urls[name]
  const statuses: number[] = []
  for (let i = 0; i < 25; i++) statuses.push((await ask(`${url}/${name}`)).status)
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200))
  expect(statuses).toContain(429) // a window of the clock may end in between
  const { headers } = await ask(`${url}/${name}`)
  expect(headers['ratelimit-policy']).toMatch(`"${name}";q=10`)
})

test('the login denies the sixth guess, whatever address its client claims', async () => {
  const url = urls['login-guard']
  const logIn = (form: string, i = 0) =>
    ask(`${url}/login`, { form, headers: { 'X-Forwarded-For': `198.18.0.${i}` } })
  const { status, cookies } = await logIn('username=ada&password=analytical%20engine')
  expect([status, Object.keys(cookies)]).toEqual([200, [expect.stringContaining('device')]])
  const statuses: number[] = []
  for (let i = 0; i < 7; i++) statuses.push((await logIn('username=ada&password=guess', i)).status)
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
})

test('the routes that share a Redis that fails answer 200, 503 and local 429', async () => {
  const burst = (route: string) => statusesOf(`${urls['on-store-error']}/outage/${route}`, 12)
  for (const route of ['allow', 'deny', 'local'])
    await until(`${route} limits`, async () => (await burst(route)).includes(429))
  await redis.kill()
  await until('allow lets all through', async () => (await burst('allow')).every((s) => s === 200))
  await until('deny lets none through', async () => (await burst('deny')).every((s) => s === 503))
  await until('local limits', async () => {
    const statuses = await burst('local')
    return statuses.includes(200) && statuses.includes(429) && !statuses.includes(503)
  })
  await until('the program prints the error', async () => program.printed.err.includes('Redis: '))
})
