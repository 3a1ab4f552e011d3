/** The code that the demo's page shows and copies: each example is a file that runs alone. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { type RedisServer, startRedis } from '../support/servers/redis.js'
import { until } from '../support/servers/wait.js'
import { startDemo } from './demo-process.js'
import type { Block } from './docs/pages.js'
import { type Outcome, tryBlocks } from './docs/run-blocks.js'
import { ask, type Example, startExample } from './examples/start-example.js'

jest.setTimeout(60_000)

const ROOT = join(__dirname, '../..')
const POLICIES = ['token-bucket', 'sliding-window', 'fixed-window', 'first-request', 'ban']
const EXAMPLES = [...POLICIES, 'login-guard', 'on-store-error']

/** Lets a program listen on a free port, and print its address. */
const ON_FREE_PORT = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function () {
  return listen.call(this, 0, () => console.log('http://localhost:' + this.address().port))
}`

let snippets: Record<string, string>
let folder: string
const examples: Example[] = []

beforeAll(async () => {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.cache/demo-code-'))
  const demo = startDemo({})
  const response = await fetch(`${await demo.listening()}/code`)
  snippets = (await response.json()) as Record<string, string>
  await demo.stop('SIGKILL')
})

afterEach(async () => {
  await Promise.all(examples.splice(0).map((example) => example.stop()))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts what the page copies, unchanged, in a process of its own. */
async function start(name: string, env: NodeJS.ProcessEnv = {}): Promise<Example> {
  const file = join(folder, `${name}.js`)
  writeFileSync(file, snippets[name] ?? '')
  const preload = `data:text/javascript,${encodeURIComponent(ON_FREE_PORT)}`
  const example = await startExample(file, { ...env, NODE_OPTIONS: `--import=${preload}` })
  examples.push(example)
  return example
}

/** Sends requests at the same time; gives their statuses. */
const statusesOf = (url: string, requests: number) =>
  Promise.all(Array.from({ length: requests }, async () => (await ask(url)).status))

test('these are all examples', () => {
  expect(Object.keys(snippets)).toEqual(EXAMPLES)
})

describe('as TypeScript and as JavaScript', () => {
  const cases = EXAMPLES.flatMap((name) => [
    [name, 'ts'],
    [name, 'js'],
  ])
  let outcomes: Outcome[]

  beforeAll(async () => {
    const blocks = cases.map(([name = '', language = ''], i): Block => {
      const code = snippets[name] ?? ''
      return { page: `demo-${name}`, line: i + 2, language, code, fixtures: [], continues: false }
    })
    outcomes = await tryBlocks(blocks)
  }, 300_000)

  test.each(cases)('%s.%s has sound types, and its server answers', (name, language) => {
    const { typeErrors, runErrors } =
      outcomes.find(({ block }) => block.page === `demo-${name}` && block.language === language) ?? {}
    expect({ typeErrors, runErrors }).toEqual({ typeErrors: [], runErrors: [] })
  })
})

test.each(POLICIES)('%s allows ten requests at once, and denies others', async (name) => {
  const { url } = await start(name)
  const statuses: number[] = []
  for (let i = 0; i < 25; i++) statuses.push((await ask(`${url}/${name}`)).status)
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200))
  expect(statuses).toContain(429) // a window of the clock may end in between
  const { headers } = await ask(`${url}/${name}`)
  expect(headers['ratelimit-policy']).toMatch(`"${name}";q=10`)
})

test('the login denies the sixth guess, whatever address its client claims', async () => {
  const { url } = await start('login-guard')
  const logIn = (form: string, i = 0) =>
    ask(`${url}/login`, { form, headers: { 'X-Forwarded-For': `198.18.0.${i}` } })
  const { status, cookies } = await logIn('username=ada&password=analytical%20engine')
  expect([status, Object.keys(cookies)]).toEqual([200, [expect.stringContaining('device')]])
  const statuses: number[] = []
  for (let i = 0; i < 7; i++) statuses.push((await logIn('username=ada&password=guess', i)).status)
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
})

describe('on a Redis that fails', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis({ own: true })
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => redis?.stop())

  test('the routes that share it answer 200, 503 and local 429', async () => {
    const { url, printed } = await start('on-store-error', { REDIS_URL: redis.url })
    const burst = (route: string) => statusesOf(`${url}/outage/${route}`, 12)
    for (const route of ['allow', 'deny', 'local'])
      await until(`${route} limits`, async () => (await burst(route)).includes(429))
    await redis.kill()
    await until('allow lets all through', async () => (await burst('allow')).every((s) => s === 200))
    await until('deny lets none through', async () => (await burst('deny')).every((s) => s === 503))
    await until('local limits', async () => {
      const statuses = await burst('local')
      return statuses.includes(200) && statuses.includes(429) && !statuses.includes(503)
    })
    expect(printed.err).toContain('Redis: ')
  })
})
