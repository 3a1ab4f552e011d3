import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { parseEventArguments } from '../../../src/cli/events/arguments.js'
import { followEvents } from '../../../src/cli/events/follow.js'
import { openEvents } from '../../../src/cli/events/source.js'
import { eventLog } from '../../../src/dashboard/shared/event-log.js'
import type { Documents } from '../../../src/stores/documents.js'
import { runHere } from '../../support/run-command.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis({ own: true })
  client = new Redis(server.url, { autoResendUnfulfilledCommands: false, retryStrategy: () => 20 })
  client.on('error', () => undefined) // while the server is down
}, INSTALL_TIMEOUT_MS)
afterAll(async () => {
  client?.disconnect()
  await server?.stop()
})

const log = () => eventLog(redisStore(client).documents as Documents, 'hg')
const event = (id: string) => ({ id, atMs: Date.now(), kind: 'block' as const, text: `blocked ${id}` })

test('the command prints what dashboards have logged on a server', async () => {
  const { add, flush } = log()
  add(event('a'))
  await flush()
  const { code, stdout } = await runHere(['events', server.url])
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ id: 'a', kind: 'block', text: 'blocked a' }),
  ])
})

test('what is logged once a server is back is printed once, and what was printed before is not', async () => {
  const settings = parseEventArguments([server.url, '--follow'], {})
  const printed: string[] = []
  const failures: string[] = []
  let isOver = false
  const following = followEvents({
    open: () => openEvents(settings, process.cwd()),
    onEvents: (events) => void printed.push(...events.map(({ id }) => id)),
    onFailure: ({ message }) => void failures.push(message),
    async pause() {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return !isOver
    },
  })
  await until('the first event is printed', () => printed.length === 1)
  await server.kill()
  await until('the outage is said', () => failures.length === 1)
  await server.restart()
  const { add, flush } = log()
  for (const id of ['a', 'b']) add(event(id)) // the server has lost its memory
  await until('the server takes events', () => flush().then(() => true))
  await until('the event of the outage is printed', () => printed.length === 2)
  isOver = true
  await following
  expect([printed, failures.length]).toEqual([['a', 'b'], 1])
})
