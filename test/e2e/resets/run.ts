import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, NetConnectOpts, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { byIp, createLimiter, memoryStore, sharedSettings } from 'headgate'
import { clientOf, connect } from './clients.js'
import { ADAPTERS, LOGIN, type Options, onDropIn, SERVERS, type Serve } from './servers.js'

/** What became of the requests of clients that reset their connections, and of others. */
export interface Outcome {
  /** How many requests had no address when the server got them. */
  readonly withoutAddress: number
  /** How many of the resets reached the handler. */
  readonly reached: number
  /** The statuses of requests before and after the resets. */
  readonly before: readonly number[]
  readonly after: number
  /** The status of a last request, from another address. */
  readonly fromOther?: number
}

const RESETS = 30
const LIMIT = 5
const AMOUNT = { limit: LIMIT, window: '1h' } as const

interface Visit {
  readonly serve: Serve
  readonly options: Options
  readonly method?: string
  readonly isUnix?: boolean
  readonly asksOther?: boolean
}

/** Has clients send `LIMIT + 1` requests, reset connections, and send one more request. */
async function visit(
  name: string,
  { serve, options, method = 'GET', isUnix = false, asksOther = false }: Visit,
): Promise<Outcome> {
  let reached = 0
  let withoutAddress = 0
  const server = await serve(options, () => {
    reached++
  })
  server.prependListener('request', ({ socket }: IncomingMessage) => {
    if (socket?.remoteAddress === undefined) withoutAddress++
  })
  const to = await listen(server, isUnix)
  const client = clientOf(name)
  const send = async () => client.send(await connect(to), method)
  const before: number[] = []
  for (let i = 0; i <= LIMIT; i++) before.push(await send())
  const reachedBefore = reached
  for (let i = 0; i < RESETS && !isUnix; i++) await client.reset(await connect(to), method)
  const after = await send()
  const other = async () => client.send(await connect({ ...to, localAddress: '127.0.0.2' }), method)
  const reachedByResets = reached - reachedBefore
  const fromOther = asksOther ? { fromOther: await other() } : {}
  server.close()
  return { withoutAddress, reached: reachedByResets, before, after, ...fromOther }
}

async function listen(server: Server, isUnix: boolean): Promise<NetConnectOpts> {
  const path = join(tmpdir(), `headgate-resets-${process.pid}-${sockets++}`)
  server.listen(isUnix ? { path } : { port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  return isUnix ? { path } : { port: (server.address() as AddressInfo).port, host: '127.0.0.1' }
}

let sockets = 0

const inHeader = byIp({ header: 'x-client-ip', from: ['127.0.0.1'] })

/** Each way to limit by address, and its options. */
const RULES: Record<string, Options> = {
  limit: AMOUNT,
  block: { ...AMOUNT, key: () => 'all', block: ['127.0.0.0/8'] },
  header: { ...AMOUNT, key: inHeader },
  'key that finds no address': { ...AMOUNT, key: (req) => (req as { ip?: string }).ip },
}

const settings = sharedSettings(memoryStore())
const overrides = [{ network: '127.0.0.0/8', block: true as const }]
await settings.change('resets', () => ({ overrides }), { by: 'ada', reason: 'a test' })
const followed = { ...AMOUNT, name: 'resets', key: () => 'all', settings } satisfies Options
const follower = createLimiter<object>(followed)
const local = { socket: { remoteAddress: '127.0.0.1' } }
// No request waits for the settings; those that are known apply to later limiters at once.
while ((await follower.charge(local)).allowed) await setTimeout(10)
RULES['blocked in settings'] = followed

const outcomes: Record<string, Outcome> = {}
for (const [name, serve] of Object.entries(SERVERS)) {
  for (const [rule, options] of Object.entries(RULES))
    outcomes[`${name}, ${rule}`] = await visit(name, { serve, options })
  outcomes[`${name}, Unix socket`] = await visit(name, { serve, options: AMOUNT, isUnix: true })
}
outcomes['drop-in, limit'] = await visit('drop-in', { serve: onDropIn, options: AMOUNT })
outcomes['drop-in, Unix socket'] = await visit('drop-in', { serve: onDropIn, options: AMOUNT, isUnix: true })
for (const [name, serve] of Object.entries(ADAPTERS)) {
  const login = { serve, options: LOGIN, method: 'POST', asksOther: true }
  outcomes[`${name}, login`] = await visit(name, login)
}
process.stdout.write(JSON.stringify(outcomes), () => process.exit())
