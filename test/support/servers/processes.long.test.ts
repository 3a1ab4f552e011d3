import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bundle, bundle } from './bundle.js'
import { INSTALL_TIMEOUT_MS } from './install.js'
import { startProcess } from './processes.js'
import { findRedis, startRedisNode } from './redis-node.js'
import { startAll, stopAll, until } from './wait.js'

beforeAll(async () => {
  await findRedis()
}, INSTALL_TIMEOUT_MS)

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

const isAlive = (pid: number | undefined) => {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

const folderOf = async (server: { cli(...args: string[]): Promise<string> }) =>
  (await server.cli('CONFIG', 'GET', 'dir')).split('\n')[1] ?? ''

test('several servers at once have ports and folders of their own', async () => {
  const servers = await startAll(Array.from({ length: 8 }, () => startRedisNode('redis', () => [])))
  try {
    expect(new Set(servers.map(({ port }) => port)).size).toBe(8)
    expect(new Set(await Promise.all(servers.map(folderOf))).size).toBe(8)
  } finally {
    await stopAll(servers)
  }
})

test.each(['runs', 'was killed', 'is held by SIGSTOP'])(
  'stopping a server that %s leaves nothing',
  async (state) => {
    const server = await startRedisNode('redis', () => [])
    const { pid } = server
    const folder = await folderOf(server)
    expect([isAlive(pid), existsSync(folder)]).toEqual([true, true])
    if (state === 'was killed') await server.kill()
    if (state === 'is held by SIGSTOP') await server.kill('SIGSTOP')
    await Promise.all([server.stop(), server.stop()])
    expect([isAlive(pid), existsSync(folder), server.pid]).toEqual([false, false, undefined])
  },
)

test('a killed server comes back on its port, in its folder, with another process', async () => {
  const server = await startRedisNode('redis', () => [])
  try {
    const { pid } = server
    const folder = await folderOf(server)
    await server.cli('SET', 'key', 'value')
    await server.kill()
    expect([isAlive(pid), await isListening(server.port)]).toEqual([false, false])
    await server.restart()
    expect(server.pid).not.toBe(pid)
    expect(await folderOf(server)).toBe(folder)
    expect(await server.cli('DBSIZE')).toBe('0')
  } finally {
    await server.stop()
  }
})

test('a server whose port was taken tries another', async () => {
  const first = await startRedisNode('redis', () => [])
  let attempts = 0
  const args = () => (attempts++ === 0 ? ['--port', String(first.port)] : [])
  const second = await startRedisNode('redis', args)
  try {
    expect(attempts).toBe(2)
    expect(second.port).not.toBe(first.port)
    expect(await second.cli('PING')).toBe('PONG')
  } finally {
    await stopAll([first, second])
  }
})

test.each([
  [
    'a wrong option',
    () => startRedisNode('redis', () => ['--no-such-option', 'yes']),
    /^redis did not start.*FATAL CONFIG/s,
  ],
  [
    'a program that is not there',
    () =>
      startProcess({ name: 'nothing', program: '/no/such/program', args: () => [], ready: async () => true }),
    /^nothing did not start/,
  ],
])('%s rejects the start, and leaves nothing', async (_, start, message) => {
  await expect(start()).rejects.toThrow(message)
})

describe('nothing survives', () => {
  let program: Bundle
  let temporary: string

  beforeAll(async () => {
    program = await bundle(join(__dirname, 'abandon.ts'))
  })

  afterAll(() => program?.remove())

  beforeEach(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'headgate-abandoned-'))
    await chmod(temporary, 0o755) // some servers do not run as who runs the tests
  })

  afterEach(() => rm(temporary, { recursive: true }))

  const foldersOf = (kind: string) =>
    readdirSync(temporary).filter((name) => name.startsWith(`headgate-${kind}-`))

  async function abandon(kind: string, ending: string): Promise<void> {
    const parent = spawn(process.execPath, [program.path, kind, ending], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(parent, 'close')
    const first = await Promise.race([once(parent.stdout, 'data'), ended])
    const port = Number(first[0])
    expect(port).toBeGreaterThan(1) // and not the code of a process that could not start it
    if (ending === 'hang') {
      expect([await isListening(port), foldersOf(kind).length]).toEqual([true, 1])
      parent.kill('SIGKILL')
    }
    await ended
    await until(`${kind} is gone`, async () => !(await isListening(port)) && foldersOf(kind).length === 0)
  }

  test.each([
    ['ends without stopping its server', 'leave'],
    ['throws', 'throw'],
    ['has nothing more to do', 'drain'],
    ['is killed', 'hang'],
  ])('a process that %s', (_, ending) => abandon('redis', ending))

  test.each(['memcached', 'mariadb', 'postgres'])(
    'a process that is killed and had started %s',
    (kind) => abandon(kind, 'hang'),
    INSTALL_TIMEOUT_MS,
  )
})
