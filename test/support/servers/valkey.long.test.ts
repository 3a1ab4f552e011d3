import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { INSTALL_TIMEOUT_MS, thisMachine } from './install.js'
import { findValkey, startValkey } from './valkey.js'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headgate-valkey-'))
})

afterEach(() => rm(folder, { recursive: true }))

test(
  'the server is Valkey, and restarts empty',
  async () => {
    const server = await startValkey()
    try {
      expect(await server.cli('INFO', 'server')).toContain('server_name:valkey')
      await server.cli('SET', 'key', 'value')
      await server.restart()
      expect(await server.cli('DBSIZE')).toBe('0')
    } finally {
      await server.stop()
    }
  },
  INSTALL_TIMEOUT_MS,
)

test('a server in PATH is used', async () => {
  const path = join(folder, 'valkey-server')
  await writeFile(path, '#!/bin/sh\n', { mode: 0o755 })
  expect(await findValkey({ ...thisMachine(), path: folder }, folder)).toBe(path)
})

test('without a server and without apt-get, the error says what to install', async () => {
  await expect(findValkey({ ...thisMachine(), path: folder }, folder)).rejects.toThrow(
    'valkey-server is not installed, and this is not Debian 12 with apt-get. ' +
      'Install Valkey 7.2 or newer, so that valkey-server is in PATH.',
  )
})

test('where apt-get fails, the error says so', async () => {
  const isDebian12 = (await readFile('/etc/os-release', 'utf8').catch(() => '')).includes('bookworm')
  for (const program of ['sh', 'flock', 'mktemp', 'mkdir', 'rm'])
    await symlink(`/usr/bin/${program}`, join(folder, program))
  await writeFile(join(folder, 'apt-get'), '#!/bin/sh\nexit 100\n', { mode: 0o755 })
  await expect(findValkey({ ...thisMachine(), path: folder }, folder)).rejects.toThrow(
    isDebian12 ? "could not be unpacked from Debian's backports" : 'is not Debian 12',
  )
})
