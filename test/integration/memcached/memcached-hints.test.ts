import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fixedWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { makeCertificate } from '../../support/certificate.js'
import { findOrInstall, INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startProcess } from '../../support/servers/processes.js'
import { HOST } from '../../support/servers/server.js'
import { connections } from './clients.js'

const { open, closeAll } = connections()
const policy = fixedWindow({ limit: 5, window: '1h' })
const charge = (port: number) => chargeOne(memcachedStore(open(`${HOST}:${port}`)), part('key', policy))

afterEach(closeAll)

test('a charge without a server says what to check', async () => {
  await expect(charge(1)).rejects.toThrow(/ECONNREFUSED 127\.0\.0\.1:1\. Check that memcached runs/)
})

test(
  'a charge at a port with TLS says that memjs has no TLS',
  async () => {
    const { cert, key } = await makeCertificate()
    const folder = await mkdtemp(join(tmpdir(), 'headgate-hints-'))
    const files = [join(folder, 'cert.pem'), join(folder, 'key.pem')] as const
    await Promise.all([writeFile(files[0], cert), writeFile(files[1], key)])
    const program = await findOrInstall({ program: 'memcached', debianPackage: 'memcached' })
    const tls = ['-Z', '-o', `ssl_chain_cert=${files[0]},ssl_key=${files[1]}`]
    const server = await startProcess({
      ...{ name: 'memcached-tls', program, endSignal: 'SIGKILL' },
      args: ({ port }) => ['-u', 'root', '-l', HOST, '-p', String(port), '-U', '0', ...tls],
      async ready({ port }) {
        const socket = connect(port, HOST)
        await once(socket, 'connect')
        socket.destroy()
        return true
      },
    })
    try {
      await expect(charge(server.port)).rejects.toThrow(/ECONNRESET\. If it uses TLS .* memjs has no TLS/)
    } finally {
      await server.stop()
      await rm(folder, { recursive: true })
    }
  },
  INSTALL_TIMEOUT_MS,
)
