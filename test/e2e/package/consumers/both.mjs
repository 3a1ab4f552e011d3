// Imports and requires the package in one process, which loads it twice; prints as JSON what each copy makes
// of the other.
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import * as imported from 'headgate'
import { customStore } from 'headgate/store'

const require = createRequire(import.meta.url)
const required = require('./node_modules/headgate/dist/cjs/index.js') // what Node.js before 20.19 requires
const once1h = { limit: 1, window: '1h' }
const everybody = () => 'everybody'

/** The statuses of requests that a trusted proxy forwarded for these addresses. */
async function statusesOf(limiter, addresses) {
  const server = createServer((req, res) => limiter(req, res, () => res.end()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const statuses = []
  for (const address of addresses) {
    const { port } = server.address()
    const sent = get({ host: '127.0.0.1', port, headers: { 'x-forwarded-for': address }, agent: false })
    const [response] = await once(sent, 'response')
    response.resume()
    statuses.push(response.statusCode)
  }
  server.close()
  return statuses
}

/** A memory store that notes the keys it is charged with. */
function noting(store, keys) {
  const apply = (operations) => {
    for (const { type, parts } of operations) if (type === 'charge') keys.push(...parts.map(({ key }) => key))
    return store.apply(operations)
  }
  return customStore({ name: 'noting', apply })
}

function failing(error) {
  const fail = () => {
    throw error
  }
  return customStore({ name: 'failing', apply: fail })
}

function thrownBy(run) {
  try {
    run()
    return 'nothing'
  } catch ({ name, message }) {
    return `${name}: ${message}`
  }
}

/** What a limiter of one copy makes of what the other copy made. */
async function across(own, other) {
  const key = other.byIp({ trustProxy: 'loopback' })
  const clients = ['203.0.113.7', '203.0.113.8', '203.0.113.8']
  const block = await statusesOf(own.rateLimit({ ...once1h, key, block: ['203.0.113.7'] }), clients)
  const allow = await statusesOf(own.rateLimit({ ...once1h, key, allow: ['203.0.113.8'] }), clients)
  const blockIpv6 = await statusesOf(
    own.rateLimit({ ...once1h, key, block: ['2001:db8::/32', '192.0.2.0/24'] }),
    ['2001:db8::1', '2001:db9::1', '::ffff:192.0.2.1'],
  )

  const keys = []
  const store = noting(own.memoryStore(), keys)
  await own.createLimiter({ ...once1h, key: other.byIp(), store }).charge({ ip: '192.0.2.7' })

  const error = new other.StoreError('failing', 'it is full', { replied: true })
  let seen
  const onStoreError = (given) => {
    seen = given
    return 'allow'
  }
  const storeOut = own.createLimiter({ ...once1h, key: everybody, store: failing(error), onStoreError })
  const open = await storeOut.charge('ada')

  const owner = own.createLimiter({ ...once1h, key: everybody, store: own.memoryStore() })
  const otherLimiter = other.createLimiter({ ...once1h, key: everybody, store: other.memoryStore() })
  const decision = await owner.charge('ada')
  await otherLimiter.refund({ ...decision })
  const afterCopy = (await owner.peek('ada')).remaining
  await otherLimiter.refund(decision)
  const afterRefund = (await owner.peek('ada')).remaining

  const common = own.memoryStore()
  const accountOf = ({ account }) => account
  const writer = own.createLimiter({ ...once1h, name: 'a', key: accountOf, store: common })
  const reader = other.createLimiter({ ...once1h, name: 'a', key: accountOf, store: common })
  const charged = await writer.charge({ account: 'ada' })
  await reader.forget(charged)
  const afterForget = (await writer.peek({ account: 'ada' })).remaining

  const ada = { body: { username: 'ada' } }
  const accounts = { ...once1h, name: 'account', key: own.byField('username') }
  const middleware = own.rateLimit({ limits: [accounts, { ...once1h, name: 'address', key: own.byIp() }] })
  await middleware.limiter.charge({ ...ada, ip: '192.0.2.7' })
  await other.adjustments(middleware.limiter).forget(ada)
  const { parts } = await middleware.limiter.peek({ ...ada, ip: '192.0.2.7' })
  const afterAdjustments = parts.map(({ remaining }) => remaining)

  const subjects = []
  const asking = other.createLimiter({
    ...once1h,
    key: (subject) => subjects.push(subject),
    store: other.memoryStore(),
  })
  await asking.forget(open)
  const unlimited = { ...once1h, name: 'none', key: everybody, skip: () => true }
  await asking.forget(await own.createLimiter({ limits: [unlimited] }).charge('ada'))
  await asking.forget(
    await own
      .createLimiter({ ...once1h, key: everybody, store: failing(error), onStoreError: () => 'deny' })
      .charge('ada'),
  )

  const limiterOn = (copy, store, options) =>
    copy.createLimiter({ ...once1h, key: everybody, store, ...options })
  const lease = thrownBy(() => own.leased(other.memoryStore()))
  const shared = other.memoryStore()
  limiterOn(own, shared)
  const secondOnStore = thrownBy(() => limiterOn(other, shared))

  const named = { ...once1h, key: everybody, name: 'common', store: own.memoryStore() }
  const inCommon = []
  for (const copy of [own, other]) inCommon.push((await copy.createLimiter(named).charge('ada')).allowed)

  return {
    inCommon,
    block,
    blockIpv6,
    allow,
    keys: keys.map((each) => each.slice(each.indexOf('{'))),
    storeError: {
      isPassedAsItIs: seen === error,
      isInstance: error instanceof own.StoreError,
      plainErrorIsInstance: new Error('other') instanceof own.StoreError,
    },
    refund: { afterCopy, afterRefund },
    afterForget,
    afterAdjustments,
    decisionsReadAsSubjects: subjects.length,
    lease,
    secondOnStore,
    decisions: [decision, open].map((each) => ({
      jsonIsSpread: isDeepStrictEqual(JSON.parse(JSON.stringify({ ...each, limit: 1, remaining: 0 })), {
        ...each,
        limit: 1,
        remaining: 0,
      }),
      keys: Reflect.ownKeys({ ...each })
        .sort()
        .join(),
    })),
    equalDecisions: isDeepStrictEqual({ ...decision }, { ...(await otherLimiter.charge('ada')) }),
  }
}

console.log(
  JSON.stringify({
    copies: imported.byIp === required.byIp ? 1 : 2,
    isRequiredAsImported: imported.byIp === require('headgate').byIp,
    requiredInImported: await across(imported, required),
    importedInRequired: await across(required, imported),
  }),
)
