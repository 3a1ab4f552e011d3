import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Frame } from '../../../src/dashboard/figures/shown.js'
import { type Child, startChild } from '../../bench/harness/child.js'
import { type OpenPage, openPage } from '../../e2e/dashboard-mounts.js'
import type { Bundle } from '../../support/servers/bundle.js'
import { bundleWithPage } from '../../support/servers/bundle-with-page.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { LIMIT, type Order } from './dashboard-child.js'

let server: RedisServer
let program: Bundle
let children: Child[] = []
let page: OpenPage

const order = (child: Child | undefined, own: Order) => (child as Child).ask<number>(own)

beforeAll(async () => {
  const starting = startRedis({ own: true })
  program = await bundleWithPage(join(__dirname, 'dashboard-child.ts'))
  server = await starting
  children = Array.from({ length: 2 }, () => startChild(pathToFileURL(program.path), [server.url], 256))
  const ports = await Promise.all(children.map((child) => order(child, {})))
  page = await openPage({ port: ports[0] as number }, '/stream?limiter=api')
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  page?.close()
  await Promise.all(children.map((child) => child.end()))
  await program?.remove()
  await server?.stop()
})

/** Returns what the page shows at present: each part as it was sent last. */
function shown(): Partial<Frame> {
  return Object.assign({}, ...page.frames()) as Partial<Frame>
}

function sums() {
  const { detail, processes = [] } = shown()
  return {
    processes: processes.filter(({ state }) => state === 'alive').length,
    limits: detail?.limits.map(({ allowed, denied }) => [allowed, denied]),
    clients: detail?.denied.map((client) => client.denied),
  }
}

const ALL = { processes: 2, limits: [[LIMIT, 5]], clients: [5] }

test('the page of one process shows the sum of both', async () => {
  await order(children[0], { charges: 7 })
  await order(children[1], { charges: 8 })
  await until('the page shows both', () => sums().clients?.[0] === 5 && sums().processes === 2)
  expect(sums()).toEqual(ALL)
  expect(shown().rows).toMatchObject([{ name: 'api', store: 'redis', storeState: 'closed' }])
})

test('while Redis hangs, the page shows the figures of its own process alone, and says so', async () => {
  await server.kill('SIGSTOP')
  await until('the page says so', () => shown().problems?.length === 1)
  expect(shown().problems?.[0]).toContain('no reply within 800 ms')
  expect(sums()).toMatchObject({ limits: [[7, 0]], clients: [] })
})

test('when Redis is back, the page shows all again, also of a process that was killed meanwhile', async () => {
  await expect(order(children[1], { dies: true })).rejects.toThrow('A child ended early')
  await server.kill('SIGCONT')
  await until('the page shows both', () => sums().clients?.[0] === 5) // it counts as living for a minute
  expect(sums()).toEqual(ALL)
  expect(shown().problems).toEqual([])
})

test('a process ends whose dashboard is closed, also without Redis', async () => {
  await server.kill()
  const [child] = children.splice(0)
  page.close()
  await child?.end()
})
