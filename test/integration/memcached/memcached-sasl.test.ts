import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chown, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fixedWindow, type Policy, type Store, tokenBucket } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { findOrInstall, INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type Place, type ServerProcess, startProcess } from '../../support/servers/processes.js'
import { HOST } from '../../support/servers/server.js'
import { serviceUser } from '../../support/servers/users.js'
import { chargeStore, takeOne } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { failureOf } from './failures.js'

const USER = 'limits'
const PASSWORD = 'open sesame'

const { open, closeAll } = connections()
let server: ServerProcess

beforeAll(async () => {
  const program = await findOrInstall({ program: 'memcached', debianPackage: 'memcached' })
  const setPassword = await findOrInstall({ program: 'saslpasswd2', debianPackage: 'sasl2-bin' })
  const user = await serviceUser('memcache')
  server = await startProcess({
    name: 'memcached-sasl',
    program: '/usr/bin/env',
    user,
    async prepare({ folder }) {
      const users = join(folder, 'users')
      await writeFile(join(folder, 'memcached.conf'), `mech_list: plain\nsasldb_path: ${users}\n`)
      const child = execFile(setPassword, ['-p', '-c', '-f', users, '-u', hostname(), USER])
      child.stdin?.end(PASSWORD)
      const [code] = await once(child, 'exit')
      if (code !== 0) throw new Error(`saslpasswd2 ended with code ${code}`)
      if (user) await chown(users, user.uid, user.gid)
    },
    args: ({ port, folder }) => [
      `SASL_CONF_PATH=${folder}`,
      program,
      ...['-S', '-l', HOST, '-p', String(port), '-U', '0'],
    ],
    ready: answers,
    endSignal: 'SIGKILL',
  })
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  closeAll()
  await server?.stop()
})

async function answers({ port }: Place): Promise<boolean> {
  const socket = connect({ host: HOST, port })
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}

const POLICIES: readonly Policy[] = [
  fixedWindow({ limit: 5, window: LONG }),
  tokenBucket({ capacity: 5, refill: 5, every: LONG }),
]
const storeBy = (password: string): Store =>
  memcachedStore(open(`${HOST}:${server.port}`, { username: USER, password }))

test('a client with user and password is authenticated, also when it reconnects', async () => {
  const store = storeBy(PASSWORD)
  for (const policy of POLICIES) {
    await takeOne(store, policy.spec.kind, policy, 2)
    expect(await remainingOf(store, policy, [policy.spec.kind])).toEqual([3])
  }
  await server.restart()
  await Promise.allSettled(POLICIES.map((policy) => takeOne(store, policy.spec.kind, policy)))
  for (const policy of POLICIES) await takeOne(store, `new-${policy.spec.kind}`, policy)
})

test('a wrong password fails charges, and is their cause', async () => {
  for (const policy of POLICIES) {
    const failure = await failureOf(chargeStore(storeBy('wrong'), [[part('key', policy)]]))
    expect(failure.message).toMatch(/authentication failed|Auth failure/)
  }
})

test('without a user, charges fail', async () => {
  const store = memcachedStore(open(`${HOST}:${server.port}`))
  for (const policy of POLICIES) await failureOf(chargeStore(store, [[part('key', policy)]]))
})
